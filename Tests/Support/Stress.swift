// SPDX-License-Identifier: Apache-2.0
import Foundation

private let stress = max(0.01, ProcessInfo.processInfo.environment["VOICEGRAPH_STRESS"].flatMap(Double.init) ?? 1)

/// How often a test is to do what may race: `count` times VOICEGRAPH_STRESS, which is 1 unless it is set.
public func stressed(_ count: Int) -> Int { max(1, Int(Double(count) * stress)) }
