// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The sanitizers that may be loaded into the tests.
public enum Sanitizer {
    /// Whether one is.
    public static let isLoaded = takesAddresses || isThere("__rtsan_realtime_enter")
    /// Whether one is that takes terabytes of addresses, and that each library of ours needs in the program that loads it.
    public static let takesAddresses = isThere("__asan_init") || isThere("__tsan_init")

    private static func isThere(_ symbol: String) -> Bool { dlsym(nil, symbol) != nil }
}
