// SPDX-License-Identifier: Apache-2.0

/// The version of this host.
public let hostVersion = "0.1.0"
