// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
    /// The whole part of a number, or the nearest end of what this type holds; of no number 0. For numbers that somebody
    /// else chose: `init(_:)` ends the process where one does not fit. [any]
    @inlinable public init(saturating number: Double) {
        self = number.isNaN ? 0 : Self(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
    }
}
