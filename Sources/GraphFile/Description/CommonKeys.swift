// SPDX-License-Identifier: Apache-2.0

/// The key that puts a node into a process of its own; not a setting of any type.
package let isolateKey = "isolate"
/// The key by which a node that is removed sounds on.
package let tailKey = "tail"
/// The key that has a node's texts and takes kept.
package let keepKey = "keep"
/// The key that names who is heard in them.
package let speakerKey = "speaker"

/// The key of the table by which a type that does not know its parameters beforehand takes them.
public let tableOfParameters = "params"
