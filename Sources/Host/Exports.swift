// SPDX-License-Identifier: Apache-2.0
// Whoever embeds the host needs the values, descriptions and diagnostics that its interface speaks of.
@_exported import Config
@_exported import Graph
@_exported import NodeKit
@_exported import Drivers
@_exported import Isolation
@_exported import LV2
