// SPDX-License-Identifier: Apache-2.0

/// A package for a new plugin: files by their path inside the package.
public struct PluginTemplate: Sendable {
    /// What it is written in.
    public enum Language: String, Sendable, CaseIterable { case swift, c }

    /// What each file holds, by its path.
    public var files: [(path: String, text: String)]

    /// Writes a plugin with one node type `name`, which `isTypeName` must accept. `source` is the folder
    /// of the voicegraph package, for Swift; `include` the folder with voicegraph/node.h, for C.
    public init(name: String, language: Language, source: String, include: String) {
        let module = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let symbol = name.split(separator: "-").joined(separator: "_")
        func fill(_ text: String) -> String {
            var text = text
            for (key, value) in [
                ("@NAME@", name), ("@MODULE@", module), ("@SYMBOL@", symbol), ("@SOURCE@", source),
                ("@INCLUDE@", include),
                // Spelt out it would look like an import of this file.
                ("@IMPORT@", "import"),
            ] {
                text = text.split(separator: key, omittingEmptySubsequences: false).joined(separator: value)
            }
            return text + "\n"
        }
        switch language {
        case .swift:
            files = [
                ("Package.swift", fill(swiftManifest)), ("Sources/\(module)/\(module).swift", fill(swiftSource)),
                ("README.md", fill(swiftReadme + readmeEnd)), ("example.conf", fill(example)),
                (".gitignore", ".build/\n"),
            ]
        case .c:
            files = [
                ("Makefile", fill(makefile)), ("\(name).c", fill(cSource)), ("README.md", fill(cReadme + readmeEnd)),
                ("example.conf", fill(example)), (".gitignore", "*.so\n"),
            ]
        }
    }
}

private let swiftManifest = """
    // swift-tools-version: 6.2
    @IMPORT@ PackageDescription

    // Where voicegraph's sources are: a folder here, or use
    // .package(url: "https://.../voicegraph", branch: "main") below.
    let voicegraph = Context.environment["VOICEGRAPH_SOURCE"] ?? "@SOURCE@"

    let package = Package(
        name: "@NAME@",
        // The host looks for libvg-NAME.so and expects the node type NAME in it.
        products: [.library(name: "vg-@NAME@", type: .dynamic, targets: ["@MODULE@"])],
        dependencies: [.package(name: "voicegraph", path: voicegraph)],
        targets: [
            .target(
                name: "@MODULE@", dependencies: [.product(name: "NodeKit", package: "voicegraph")],
                swiftSettings: [.swiftLanguageMode(.v6)])
        ]
    )
    """

private let swiftSource = """
    import NodeKit

    /// Turns its input down by `amount_db`. Replace this with what your node does.
    ///
    /// This class is the control half: ordinary Swift, never on the audio thread.
    final class @MODULE@: Node {
        static let descriptor = NodeDescriptor(
            "@NAME@", "turns its input down",
            ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
            parameters: [Parameter("amount_db", "how far down", 0...60, default: 6, unit: "dB", scale: VG_DECIBEL)],
            flags: VG_IN_PLACE, process: nodeProcess)

        /// What the audio thread needs, kept from block to block: numbers and pointers, no objects.
        struct Processor: BitwiseCopyable {}

        /// Checks the settings; cheap, takes no device.
        init(settings: Settings, host: NodeHost) throws(NodeError) {}

        /// Makes everything that the processor needs.
        func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor() }
    }

    /// One block, on the audio thread. `@_noLocks` makes the compiler refuse what could wait or allocate.
    @_noLocks
    private func nodeProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
        let amount = io.parameter(0)
        let input = io.input(0)
        let output = io.output(0)
        for frame in 0..<cycle.frames { output[frame] = input[frame] * vg_linear(-amount[frame: frame]) }
        if io.isSilent(input: 0) { io.markSilent(output: 0) }
    }

    /// The one symbol that the host looks for.
    @c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
        exportPlugin(@MODULE@.self, name: "@NAME@", version: "0.1", license: "Apache-2.0", hostABI: hostABI)
    }
    """

private let makefile = """
    # Where voicegraph/node.h is.
    VOICEGRAPH_INCLUDE ?= @INCLUDE@
    CFLAGS ?= -O2 -Wall -Wextra
    PLUGINS ?= $(or $(XDG_DATA_HOME),$(HOME)/.local/share)/voicegraph/plugins

    libvg-@NAME@.so: @NAME@.c
    \t$(CC) -std=c11 $(CFLAGS) -fPIC -shared -I$(VOICEGRAPH_INCLUDE) $< -o $@ -lm

    install: libvg-@NAME@.so
    \tinstall -D -m 644 $< $(PLUGINS)/$<

    clean:
    \trm -f libvg-@NAME@.so

    .PHONY: install clean
    """

private let cSource = """
    /* Turns its input down by `amount_db`. Replace this with what your node does. */
    #include <math.h>
    #include <stdlib.h>
    #include <voicegraph/node.h>

    /* What the node keeps from block to block. */
    typedef struct {
      uint64_t frames;
    } @SYMBOL@_node;

    enum { AMOUNT = 0 };

    static const vg_port ports[] = {
        {.symbol = "in", .doc = "what comes in", .kind = VG_AUDIO_PORT, .direction = VG_INPUT},
        {.symbol = "out", .doc = "what goes out", .kind = VG_AUDIO_PORT, .direction = VG_OUTPUT},
    };

    static const vg_parameter parameters[] = {
        [AMOUNT] = {.key = "amount_db", .doc = "how far down", .unit = "dB", .minimum = 0, .maximum = 60,
                    .default_value = 6, .scale = VG_DECIBEL},
    };

    /* Checks the settings; cheap, takes no device. */
    static void *create(const vg_node_type *type, const vg_host *host, const vg_value *settings, vg_error *error) {
      (void)type, (void)host, (void)settings;
      void *node = calloc(1, sizeof(@SYMBOL@_node));
      if (!node) strcpy(error->message, "out of memory");
      return node;
    }

    static void destroy(void *node) { free(node); }

    /* Makes everything that `process` needs, and returns what it will get. */
    static void *prepare(void *node, const vg_preparation *preparation, vg_error *error) {
      (void)preparation, (void)error;
      return node;
    }

    /* One block, on the audio thread: no allocation, no lock, no system call. */
    static void process(void *processor, const vg_io *io, const vg_cycle *cycle) {
      @SYMBOL@_node *node = processor;
      for (uint32_t i = 0; i < cycle->frames; i++) {
        float gain = powf(10, -vg_ramp_at(&io->parameters[AMOUNT], i) / 20);
        io->audio_out[0][i] = io->audio_in[0][i] * gain;
      }
      node->frames += cycle->frames;
    }

    static const vg_node_type type = {
        .abi = VG_ABI_VERSION,
        .size = sizeof(vg_node_type),
        .name = "@NAME@",
        .summary = "turns its input down",
        .flags = VG_IN_PLACE,
        .default_layout = {ports, 2, parameters, 1},
        .create = create,
        .destroy = destroy,
        .prepare = prepare,
        .process = process,
    };

    static const vg_node_type *const types[] = {&type};

    static const vg_plugin plugin = {
        .abi = VG_ABI_VERSION,
        .size = sizeof(vg_plugin),
        .name = "@NAME@",
        .version = "0.1",
        .license = "Apache-2.0",
        .types = types,
        .type_count = 1,
    };

    /* The one symbol that the host looks for. */
    const vg_plugin *vg_plugin_entry(uint32_t host_abi) { return host_abi == VG_ABI_VERSION ? &plugin : NULL; }
    """

private let swiftReadme = """
    # @NAME@

    A node type for voicegraph, in Swift: `Sources/@MODULE@/@MODULE@.swift`. The sources of voicegraph are looked for in
    the folder that `Package.swift` names; `VOICEGRAPH_SOURCE=folder swift build` takes others.

        swift build -c release
        voicegraph describe @NAME@ --plugin-path .build/release
        voicegraph render example.conf -o out.wav --duration 2 --plugin-path .build/release
    """

private let cReadme = """
    # @NAME@

    A node type for voicegraph, in C11: `@NAME@.c`. It needs one header, `voicegraph/node.h`, which says what each
    function may do and on which thread; `make VOICEGRAPH_INCLUDE=folder` says where that is.

        make
        voicegraph describe @NAME@ --plugin-path .
        voicegraph render example.conf -o out.wav --duration 2 --plugin-path .
    """

private let readmeEnd = """


    To have it found without `--plugin-path`, copy `libvg-@NAME@.so` to `~/.local/share/voicegraph/plugins`.
    """

private let example = """
    [graph]
    name = "@NAME@-example"
    links = ["source -> effect -> out"]

    [node.source]
    type = "tone"

    [node.effect]
    type = "@NAME@"
    amount_db = 12

    [node.out]
    type = "output"
    channels = 1
    """
