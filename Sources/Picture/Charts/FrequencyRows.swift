// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How frequencies lie along a side of a picture.
enum FrequencyScale {
    /// In equal ratios from 20 Hz.
    case ratios
    /// In equal steps of the mel scale from 0: as far apart as they are heard to be (D. O'Shaughnessy, Speech Communication,
    /// 1987).
    case mel

    /// Where a frequency lies, 0 to 1, where 1 is `high`; both in Hz.
    func place(of frequency: Double, high: Double) -> Double {
        switch self {
        case .ratios: log(frequency / FrequencyRows.low) / log(high / FrequencyRows.low)
        case .mel: log1p(frequency / 700) / log1p(high / 700)
        }
    }

    /// What lies at a place, in Hz.
    func frequency(at place: Double, high: Double) -> Double {
        switch self {
        case .ratios: FrequencyRows.low * pow(high / FrequencyRows.low, place)
        case .mel: 700 * expm1(place * log1p(high / 700))
        }
    }
}

/// Parts of a row of numbers, one for each frequency in even steps from 0 to `high`, as they lie between the heights of a
/// picture.
struct FrequencyRows {
    /// The largest of some numbers, or what lies between two of them.
    private enum Row {
        case largest(ClosedRange<Int>)
        case between(Int, part: Float)
    }

    /// The lowest frequency of a picture in equal ratios, in Hz.
    static let low = 20.0
    private let rows: [Row]

    /// `count`: heights, each to the next; `width`: numbers of a row.
    init(_ scale: FrequencyScale = .ratios, count: Int, width: Int, high: Double) {
        func place(_ height: Double) -> Double {
            scale.frequency(at: height / Double(count), high: high) * Double(width - 1) / high
        }
        rows = (0..<count).map { row in
            let (first, last) = (place(Double(row)), place(Double(row + 1)))
            let (start, end) = (Int(first.rounded(.up)), min(Int(last.rounded(.down)), width - 1))
            if start <= end { return .largest(start...end) }
            let middle = min((first + last) / 2, Double(width - 1))
            return .between(min(Int(middle), width - 2), part: Float(middle - Double(min(Int(middle), width - 2))))
        }
    }

    /// One for each row, the lowest frequency first.
    func values(_ numbers: [Float]) -> [Float] { values(numbers[...]) }

    /// The same of a part of some numbers.
    func values(_ numbers: ArraySlice<Float>) -> [Float] {
        let first = numbers.startIndex
        return rows.map { row in
            switch row {
            case .largest(let range):
                var largest = numbers[first + range.lowerBound]
                for index in range where numbers[first + index] > largest { largest = numbers[first + index] }
                return largest
            case .between(let index, let part):
                return numbers[first + index] * (1 - part) + numbers[first + index + 1] * part
            }
        }
    }
}
