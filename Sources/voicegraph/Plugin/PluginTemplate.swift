// SPDX-License-Identifier: Apache-2.0

/// A package for a new plugin: files by their path inside the package.
struct PluginTemplate: Sendable {
    /// What it is written in.
    enum Language: String, Sendable, CaseIterable { case swift, c }

    /// What each file holds, by its path.
    var files: [(path: String, text: String)]

    /// Writes a plugin with one node type `name`, which `isTypeName` must accept. `kit` is the folder
    /// of the package NodeKit.
    init(name: String, language: Language, kit: String) {
        let module = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let symbol = name.split(separator: "-").joined(separator: "_")
        func fill(_ text: String) -> String {
            var text = text
            for (key, value) in [
                ("@NAME@", name), ("@MODULE@", module), ("@SYMBOL@", symbol),
                ("@BUILD@", language == .swift ? ".build/release" : "."),
                ("@KIT@", kit),
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

    // Where NodeKit is: it comes with voicegraph, and needs no network.
    let kit = Context.environment["VOICEGRAPH_NODEKIT"] ?? "@KIT@"

    let package = Package(
        name: "@NAME@",
        // The host looks for libvg-NAME.so and expects the node type NAME in it.
        products: [.library(name: "vg-@NAME@", type: .dynamic, targets: ["@MODULE@"])],
        dependencies: [.package(name: "NodeKit", path: kit)],
        targets: [
            .target(
                name: "@MODULE@", dependencies: [.product(name: "NodeKit", package: "NodeKit")],
                swiftSettings: [.swiftLanguageMode(.v6)])
        ]
    )
    """

private let swiftSource = """
    import NodeKit

    /// Turns its input down by `amount_db`. Replace this with what your node does.
    ///
    /// This class is the control half: ordinary Swift, never on the audio thread.
    final class @MODULE@: AudioNode {
        static let descriptor = NodeDescriptor(
            "@NAME@", "turns its input down",
            ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
            parameters: Knob.all,
            actions: [
                Action(
                    "reset", "turn the amount back to its default",
                    results: [Field("amount_db", VG_NUMBER, "what it becomes", unit: "dB")])
            ],
            events: [EventType("reset", "the amount was turned back", says: "turned back")],
            series: [Series("peak", "largest sample of the input", rate: 60, width: 1)],
            flags: VG_IN_PLACE, process: { @MODULE@.process($0, $1, $2) })

        /// What may be turned while it plays, in the order in which the audio half has it.
        enum Knob: Int, ParameterList {
            case amount

            var parameter: Parameter {
                Parameter("amount_db", "how far down", 0...60, default: 6, unit: "dB", scale: VG_DECIBEL)
            }
        }

        /// What the audio thread needs, kept from block to block: plain data, no objects.
        struct Processor: BitwiseCopyable {
            var meter: LevelMeter
        }

        private let host: NodeHost
        /// What the processor measured, on its way to `poll`.
        private var levels: LevelQueue?

        /// Checks the settings; cheap, takes no device.
        init(settings: Settings, host: NodeHost) throws(NodeError) { self.host = host }

        /// Makes everything that the processor needs, and keeps it.
        func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
            let levels = LevelQueue(channels: 1, rate: preparation.rate)
            self.levels = levels
            return Processor(meter: levels.meter)
        }

        /// Does what the descriptor declares under `actions`.
        func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
            let usual = Knob.amount.parameter.defaultValue
            guard host.setParameter(Knob.amount.rawValue, to: usual) else {
                throw NodeError("the amount cannot be turned now")
            }
            host.publish("reset")
            call.put("amount_db", .number(Double(usual)))
        }

        /// Called some hundred times a second: publishes what the processor left.
        func poll() {
            while let level = levels?.next() { host.publish([level.peak], at: level.position) }
        }

        /// One block, on the audio thread. `@_noLocks` makes the compiler refuse what could wait or allocate.
        @_noLocks
        static func process(_ state: inout Processor, _ block: borrowing Block) {
            state.meter.feed(block)
            let amount = block[Knob.amount]
            let input = block.input(0)
            let output = block.output(0)
            for frame in 0..<block.frames { output[frame] = input[frame] * vg_linear(-amount[frame]) }
            if block.isSilent(0) { block.markSilent(0) }
        }
    }

    /// The one symbol that the host looks for.
    @c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
        exportPlugin(@MODULE@.self, name: "@NAME@", version: "0.1", license: "Apache-2.0", hostABI: hostABI)
    }
    """

private let makefile = """
    # Where voicegraph/node.h is; it comes with voicegraph.
    VOICEGRAPH_INCLUDE ?= @KIT@/Sources/CNode/include
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
    #include <stdatomic.h>
    #include <stdlib.h>
    #include <voicegraph/node.h>

    /* What the node keeps. `peak` and `position` are how the audio thread tells `poll` what it measured. */
    typedef struct {
      const vg_host *host;
      _Atomic float peak;
      _Atomic uint64_t position;
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

    static const vg_field results[] = {
        {.name = "amount_db", .doc = "what it becomes", .kind = VG_NUMBER, .unit = "dB"},
    };

    static const vg_action actions[] = {
        {.name = "reset", .doc = "turn the amount back to its default", .results = VG_ARRAY(results)},
    };

    static const vg_event_type events[] = {{.name = "reset", .doc = "the amount was turned back"}};

    static const vg_series series[] = {
        {.name = "peak", .doc = "largest sample of a block", .unit = "", .width = 1},
    };

    /* Checks the settings; cheap, takes no device. */
    static void *create(const vg_node_type *type, const vg_host *host, const vg_value *settings, vg_error *error) {
      (void)type, (void)settings;
      @SYMBOL@_node *node = calloc(1, sizeof *node);
      if (!node) strcpy(error->message, "out of memory");
      else node->host = host;
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
      float peak = 0;
      for (uint32_t i = 0; i < cycle->frames; i++) {
        float gain = powf(10, -vg_ramp_at(&io->parameters[AMOUNT], i) / 20);
        float sample = io->audio_in[0][i];
        if (fabsf(sample) > peak) peak = fabsf(sample);
        io->audio_out[0][i] = sample * gain;
      }
      atomic_store_explicit(&node->peak, peak, memory_order_relaxed);
      atomic_store_explicit(&node->position, cycle->position + cycle->frames, memory_order_release);
    }

    /* Called some hundred times a second: publishes what the processor left. */
    static void poll(void *of) {
      @SYMBOL@_node *node = of;
      uint64_t position = atomic_load_explicit(&node->position, memory_order_acquire);
      float peak = atomic_load_explicit(&node->peak, memory_order_relaxed);
      if (position == 0) return;
      vg_row row = {.series = 0, .count = 1, .values = &peak};
      vg_frame frame = {.size = sizeof frame, .row_count = 1, .rows = &row, .position = position};
      node->host->publish_frame(node->host->handle, &frame);
    }

    /* Does what is declared under `actions`. */
    static vg_outcome perform(void *of, const char *action, const vg_value *arguments, const vg_call *call,
                              vg_error *error) {
      (void)action, (void)arguments;
      @SYMBOL@_node *node = of;
      float amount = parameters[AMOUNT].default_value;
      if (!node->host->set_parameter(node->host->handle, AMOUNT, amount, false, 0)) {
        strcpy(error->message, "the amount cannot be turned now");
        return VG_FAILED;
      }
      vg_event event = {.size = sizeof event, .name = "reset"};
      node->host->publish(node->host->handle, &event);
      vg_value value = {.kind = VG_NUMBER, .number = amount};
      call->put(call->handle, "amount_db", &value);
      return VG_DONE;
    }

    static const vg_node_type type = {
        .abi = VG_ABI_VERSION,
        .size = sizeof(vg_node_type),
        .name = "@NAME@",
        .summary = "turns its input down",
        .flags = VG_IN_PLACE,
        .default_layout = {VG_ARRAY(ports), VG_ARRAY(parameters)},
        .actions = VG_ARRAY(actions),
        .events = VG_ARRAY(events),
        .series = VG_ARRAY(series),
        .create = create,
        .destroy = destroy,
        .prepare = prepare,
        .process = process,
        .perform = perform,
        .poll = poll,
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

    A node type for voicegraph, in Swift: `Sources/@MODULE@/@MODULE@.swift`. It needs one package,
    NodeKit, which comes with voicegraph and says what each function may do and on which thread: `Package.swift` names its
    folder, and `VOICEGRAPH_NODEKIT=folder swift build` takes another. Nothing is fetched.

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


    While it runs, its action is done, and its event and its series are seen, from another terminal:

        voicegraph run example.conf --plugin-path @BUILD@
        voicegraph ctl events
        voicegraph ctl set effect amount_db 20
        voicegraph ctl do effect reset

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
