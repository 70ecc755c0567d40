// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Testing

@Suite("What is fit to be heard")
struct UnfitTests {
    @Test("One sample that is no number, infinite or above +24 dBFS is found, wherever it is")
    func everywhere() {
        let isUnfit = vg_unfit_choose()
        for frames in 1...70 {
            var samples = [Float](repeating: -15.8, count: frames)
            #expect(!isUnfit(samples, UInt32(frames)))
            for place in 0..<frames {
                for bad in [Float.nan, -.nan, .infinity, -.infinity, 15.9, -15.9, .greatestFiniteMagnitude] {
                    samples[place] = bad
                    #expect(isUnfit(samples, UInt32(frames)), "\(bad) at \(place) of \(frames)")
                }
                samples[place] = 15.8
            }
            #expect(!isUnfit(samples, UInt32(frames)))
        }
        #expect(!isUnfit([.leastNonzeroMagnitude, -0], 2))
    }
}
