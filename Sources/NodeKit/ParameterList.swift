// SPDX-License-Identifier: Apache-2.0
/// The parameters of a node, in the order in which its audio half has them: an enumeration that says of each case what it is.
///
///     enum Knob: Int, ParameterList {
///         case rate, depth
///         var parameter: Parameter {
///             switch self {
///             case .rate: Parameter("rate_hz", "how often", 0.05...40, default: 5, unit: "Hz")
///             case .depth: Parameter("depth", "how far down: 1 is silence", 0...1, default: 0.5)
///             }
///         }
///     }
///
/// `parameters: Knob.all` declares them; the audio half reads `block[Knob.depth]`.
public protocol ParameterList: RawRepresentable<Int>, CaseIterable, Sendable {
    /// What it is.
    var parameter: Parameter { get }
}

extension ParameterList {
    /// All of them, in their order.
    public static var all: [Parameter] { allCases.map(\.parameter) }
}
