// Looks for classes by their names, without the modules that Swift's own lookup needs.
//
// Threads: a search lives in one call.

import CSwiftTypes

/// Looks for classes of the program by their plain names.
final class ClassSearch {
    struct Found {
        let type: Any.Type
        /// As Swift writes it, with the module and the types around it.
        let name: String

        var module: Substring { name.prefix { $0 != "." } }
        var isOutermost: Bool { name.count { $0 == "." } == 1 }
    }

    private let names: Set<String>
    private var found: [String: [Found]] = [:]

    private init(_ names: Set<String>) { self.names = names }

    /// The classes that have one of some plain names.
    static func classes(named names: Set<String>) -> [String: [Found]] {
        let search = ClassSearch(names)
        cairn_each_class(
            { name, context in ClassSearch.of(context).names.contains(String(cString: name)) },
            Unmanaged.passUnretained(search).toOpaque(),
            { metadata, context in
                let type = unsafeBitCast(metadata, to: Any.Type.self)
                let found = Found(type: type, name: String(reflecting: type))
                ClassSearch.of(context).found["\(type)", default: []].append(found)
            })
        return search.found
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> ClassSearch {
        guard let context else { preconditionFailure("the search is its own context") }
        return Unmanaged<ClassSearch>.fromOpaque(context).takeUnretainedValue()
    }
}
