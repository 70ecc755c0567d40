// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// What the host offers a plugin, in memory that lives as long as the plugin's instance.
///
/// Not offered: `fixedBlockLength` and `powerOf2BlockLength`. Blocks are the driver's, whole: the last one of a render
/// may be short, and a server may change their length at any time.
final class Features {
    /// What a plugin may require.
    static let supported: Set<String> = Set(
        [
            VG_URID__map, VG_URID__unmap, VG_OPTIONS__options, VG_BUF_SIZE__boundedBlockLength, VG_WORKER__schedule,
            VG_LOG__log, VG_STATE__loadDefaultState, VG_STATE__threadSafeRestore, VG_STATE__mapPath,
            VG_STATE__freePath, VG_STATE__makePath, VG_BUF_SIZE__coarseBlockLength, VG_URI_MAP_URI, VG_EVENT_URI,
            VG_CORE__isLive, VG_CORE__hardRTCapable, VG_CORE__inPlaceBroken,
            VG_PORT_PROPS__supportsStrictBounds, VG_RESIZE_PORT__resize,
        ].map(\.string))

    /// NULL-terminated, as LV2 wants it.
    let list: UnsafeMutablePointer<UnsafePointer<LV2_Feature>?>
    private let features: UnsafeMutablePointer<LV2_Feature>
    /// What the plugin is told of blocks and rate, also later.
    let options: PluginOptions
    private let paths = PluginPaths()
    /// What the plugin is told when it asks for larger buffers.
    let sizes = PortSizes()

    /// Where the plugin made files, if it made any.
    var madeFiles: String? { paths.folder }

    /// Puts the features together. What is passed must outlive them.
    init(_ preparation: Preparation, worker: PluginWorker, log: PluginLog, wantsLive: Bool) {
        let table = URIDMap.shared
        options = PluginOptions(preparation, table)
        var offered: [(UnsafePointer<CChar>, UnsafeMutableRawPointer?)] = [
            (VG_URID__map, UnsafeMutableRawPointer(table.map)),
            (VG_URID__unmap, UnsafeMutableRawPointer(table.unmap)),
            (VG_OPTIONS__options, UnsafeMutableRawPointer(options.list)),
            (VG_BUF_SIZE__boundedBlockLength, nil),
            (VG_WORKER__schedule, UnsafeMutableRawPointer(worker.schedule)),
            (VG_LOG__log, UnsafeMutableRawPointer(log.feature)),
            (VG_STATE__loadDefaultState, nil),
            (VG_STATE__threadSafeRestore, nil),
            (VG_STATE__mapPath, UnsafeMutableRawPointer(paths.map)),
            (VG_STATE__makePath, UnsafeMutableRawPointer(paths.make)),
            (VG_STATE__freePath, UnsafeMutableRawPointer(paths.free)),
            (VG_BUF_SIZE__coarseBlockLength, nil),
            (VG_URI_MAP_URI, UnsafeMutableRawPointer(table.uriMap)),
            (VG_EVENT_URI, UnsafeMutableRawPointer(oldEvents)),
            (VG_PORT_PROPS__supportsStrictBounds, nil),
            (VG_RESIZE_PORT__resize, UnsafeMutableRawPointer(sizes.resize)),
        ]
        if wantsLive || !preparation.offline { offered.append((VG_CORE__isLive, nil)) }
        features = .allocate(capacity: offered.count)
        list = .allocate(capacity: offered.count + 1)
        for (index, feature) in offered.enumerated() {
            (features + index).initialize(to: LV2_Feature(URI: feature.0, data: feature.1))
            (list + index).initialize(to: UnsafePointer(features + index))
        }
        (list + offered.count).initialize(to: nil)
    }

    deinit {
        features.deallocate()
        list.deallocate()
    }

    /// Throws for a plugin that requires what the host does not offer. [control]
    static func check(_ info: PluginInfo) throws(NodeError) {
        let missing = info.requiredFeatures.filter { !supported.contains($0) }
        guard !missing.isEmpty else { return }
        let fixed = [VG_BUF_SIZE__fixedBlockLength.string, VG_BUF_SIZE__powerOf2BlockLength.string]
        throw NodeError(
            "\(info.name) in \(info.bundle) requires \(missing.joined(separator: " and ")), which the host does not offer",
            hint: missing.contains(where: fixed.contains)
                ? "the plugin cannot run here: block lengths are the driver's, and may change"
                : "the plugin cannot run here")
    }
}

/// Old events had owners; those of the host have none, so that there is nothing to count.
private nonisolated(unsafe) let oldEvents: UnsafeMutablePointer<vg_lv2_event_feature> = {
    // Never written again.
    let memory = UnsafeMutablePointer<vg_lv2_event_feature>.allocate(capacity: 1)
    memory.initialize(to: vg_lv2_event_feature(handle: nil, ref: { _, _ in 0 }, unref: { _, _ in 0 }))
    return memory
}()
