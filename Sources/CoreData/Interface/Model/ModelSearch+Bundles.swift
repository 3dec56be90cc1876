// The models of bundles.
//
// An app has its models in the main bundle, which for a Swift package has none: so where that is meant, the resources of all
// its targets are.

import Foundation

extension ModelSearch {
    /// What models are called, compiled or as source.
    static let modelExtensions = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

    /// Where the models of a bundle are; of the main bundle: those of the program.
    init(of bundle: Bundle) {
        self =
            bundle.bundleURL == Bundle.main.bundleURL
            ? ModelSearch(nil) : ModelSearch(bundles: [bundle])
    }

    /// The models of some bundles, each once; without bundles, those of the program. On Linux `Bundle.allBundles` is always
    /// empty.
    static func models(in bundles: [Bundle]?) -> [URL] {
        let bundles = bundles ?? []
        let searches = bundles.isEmpty ? [ModelSearch(nil)] : bundles.map(ModelSearch.init(of:))
        var found: [URL] = []
        var known: Set<String> = []
        for search in searches {
            for ending in modelExtensions {
                // A model that is there compiled and as source is one model.
                found += search.files(withExtension: ending).filter {
                    known.insert($0.deletingPathExtension().standardizedFileURL.path).inserted
                }
            }
        }
        return found
    }

    /// The model of that name; nil if there is none.
    func model(named name: String) -> URL? { file(named: name, extensions: Self.modelExtensions) }
}
