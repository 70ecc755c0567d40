// SPDX-License-Identifier: Apache-2.0
// Who writes a node imports this module and nothing else.
@_exported import CNode
@_exported import Realtime
@_exported import System
