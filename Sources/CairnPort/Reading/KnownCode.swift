// What all files together declare.
//
//   1. A managed class is one that inherits from NSManagedObject, through other classes of the tree as well, or one that Xcode
//      generates from a model of the tree.
//   2. An override in an extension is moved into its class, which Swift demands without the Objective-C runtime, if exactly
//      one file declares that class, and the member needs nothing that is private to another file.

/// The declarations of a source tree.
struct KnownCode: Sendable {
    /// Overrides that have to be members of a class: where they stand, and where they go.
    struct Moves: Sendable {
        /// The texts that a class receives, by its name.
        var incoming: [String: [String]] = [:]
        /// The bytes to be removed, by file.
        var outgoing: [String: [Range<Int>]] = [:]
    }

    /// Names of managed classes.
    private(set) var managedClasses: Set<String>
    /// Names of all types.
    private(set) var types: Set<String> = []
    /// Names of classes that the sources declare.
    private(set) var declaredClasses: Set<String> = []
    private(set) var managedProperties: [String: Set<String>] = [:]
    private(set) var objectiveCNames: [String: String] = [:]
    /// Names that Objective-C knows classes by, where Swift has others.
    private(set) var objectiveCClasses: [String: String] = [:]
    /// The names of properties that are sets of Foundation, all of them.
    var setNames: [String] {
        variables.filter { $0.value == ["NSSet"] || $0.value == ["NSMutableSet"] }.map(\.key)
    }
    let moves: Moves
    /// Finds where extensions of managed classes begin.
    let extensionHeads: WordSearch
    /// The optional requirements that get default implementations.
    let optionalRequirements: OptionalRequirements
    /// The types that properties are declared with, by the properties' names.
    private(set) var variables: [String: Set<String>] = [:]

    /// - Parameters:
    ///   - facts: of each file by its path, in the order of the files.
    ///   - generatedClasses: the names of the classes that are generated from models.
    ///   - generatedSets: the names of their properties that are sets of Foundation.
    init(
        _ facts: [(path: String, facts: FileFacts)], generatedClasses: Set<String> = [],
        generatedSets: Set<String> = []
    ) {
        for name in generatedSets { variables[name] = ["NSSet"] }
        var inherited: [String: [String]] = [:]
        var homes: [String: [String]] = [:]
        for (path, facts) in facts {
            types.formUnion(facts.types)
            for type in facts.classes {
                inherited[type.name, default: []] += type.inherited
                homes[type.name, default: []].append(path)
                if let name = type.objectiveCName, name != type.name {
                    objectiveCClasses[name] = type.name
                }
            }
            variables.merge(facts.variables) { $0.union($1) }
            managedProperties.merge(facts.managedProperties) { $0.union($1) }
            objectiveCNames.merge(facts.objectiveCNames) { first, _ in first }
        }
        declaredClasses = Set(homes.keys)
        var managed: Set<String> = generatedClasses.union(["NSManagedObject"])
        var grows = true
        while grows {
            let more = inherited.filter { name, parents in
                !managed.contains(name) && parents.contains(where: managed.contains)
            }
            managed.formUnion(more.keys)
            grows = !more.isEmpty
        }
        managedClasses = managed
        extensionHeads = WordSearch(managed.map { "extension \($0)" })
        optionalRequirements = OptionalRequirements(facts.map(\.facts))
        var moves = Moves()
        for (path, facts) in facts {
            // A text can leave together with its whole extension only if all of the extension leaves.
            let movable = facts.overrides.map { override in
                guard managed.contains(override.type), let home = homes[override.type],
                    home.count == 1
                else { return false }
                return home[0] == path || !override.usesPrivates
            }
            for (override, isMovable) in zip(facts.overrides, movable) where isMovable {
                let isWhole = zip(facts.overrides, movable).allSatisfy {
                    $0.wholeExtension != override.wholeExtension || $1
                }
                let range = isWhole ? override.wholeExtension ?? override.range : override.range
                moves.incoming[override.type, default: []].append(override.text)
                if moves.outgoing[path]?.contains(range) != true {
                    moves.outgoing[path, default: []].append(range)
                }
            }
        }
        self.moves = moves
    }
}
