// Which optional requirements of a tree become requirements with default implementations.
//
// All of a protocol's, or none. Not if a default would be called where Objective-C calls a method:
//
//   1. A class conforms and leaves a requirement out, and a class that inherits from it has the method. Swift looks at the class
//      that conforms.
//   2. A property has the name: `done?()` may call a closure.
//   3. Somebody asks whether a requirement is there, by its name without a call or by comparing the call with nil.

/// The optional requirements that get default implementations.
struct OptionalRequirements: Sendable {
    /// The protocols that have them.
    private(set) var protocols: Set<String> = []
    /// Those of them that Objective-C has to know on Apple's platforms.
    private(set) var exposed: Set<String> = []
    /// The protocols of Objective-C.
    private(set) var objectiveCProtocols: Set<String> = []
    private var owners: [String: Set<String>] = [:]

    init(_ facts: [FileFacts]) {
        let all = facts.flatMap(\.protocols)
        objectiveCProtocols = Set(all.filter(\.isObjectiveC).map(\.name))
        let found = all.filter { !$0.optional.isEmpty || !$0.hasDefaults }
        guard !found.isEmpty else { return }
        var inherited: [String: [String]] = [:]
        var functions: [String: Set<String>] = [:]
        var variables: Set<String> = []
        var named: Set<String> = []
        var asked: Set<String> = []
        for file in facts {
            asked.formUnion(file.askedNames)
            inherited.merge(file.conformances) { $0 + $1 }
            functions.merge(file.functions) { $0.union($1) }
            variables.formUnion(file.variables.keys)
            named.formUnion(file.exposedTypes)
        }
        let classes = Set(facts.flatMap(\.classes).map(\.name))
        for one in found where one.hasDefaults {
            let isClosure = one.optional.contains {
                !Self.hasLabel($0) && variables.contains(Self.baseName($0))
            }
            let isAsked = one.optional.contains { asked.contains(Self.baseName($0)) }
            let names = Self.heirs(of: one.name, all)
            guard !isClosure, !isAsked, !Self.isHidden(one, names, inherited, functions, classes)
            else { continue }
            protocols.insert(one.name)
            for name in one.optional { owners[name, default: []].insert(one.name) }
        }
        for other in all where other.isObjectiveC && !protocols.contains(other.name) {
            named.formUnion(other.named)
            named.formUnion(other.inherited)
        }
        exposed = protocols.intersection(named)
    }

    /// Whether calls of a name are calls of such a requirement.
    ///
    /// - Parameter buildsOnApple: whether what Objective-C has to know stays as it is.
    func has(_ name: String, buildsOnApple: Bool) -> Bool {
        guard let owners = owners[name] else { return false }
        return !buildsOnApple || owners.isDisjoint(with: exposed)
    }

    /// Whether the requirements of a protocol get default implementations.
    func areDefaulted(of name: String, buildsOnApple: Bool) -> Bool {
        protocols.contains(name) && !(buildsOnApple && exposed.contains(name))
    }

    /// What files have that call, ask for or implement such requirements of all protocols, or conform to one.
    static func words(of facts: [FileFacts]) -> [String] {
        let all = facts.flatMap(\.protocols)
        let found = all.filter { !$0.optional.isEmpty }
        let functions = Set(found.flatMap(\.optional).map(baseName))
        let protocols = Set(found.flatMap { heirs(of: $0.name, all) })
        return functions.flatMap { [".\($0)", "func \($0)("] } + protocols
    }

    /// A protocol, and those that inherit from it.
    private static func heirs(of name: String, _ all: [ProtocolFacts]) -> Set<String> {
        var names: Set = [name]
        var count = 0
        while count < names.count {
            count = names.count
            for one in all where !names.isDisjoint(with: one.inherited) { names.insert(one.name) }
        }
        return names
    }

    private static func baseName(_ name: String) -> String { String(name.prefix { $0 != "(" }) }

    private static func hasLabel(_ name: String) -> Bool {
        name.drop { $0 != "(" }.contains { !"():_".contains($0) }
    }

    /// Whether a class has a requirement that a class above it, which conforms, leaves out.
    ///
    /// - Parameter names: the protocol, and those that inherit from it.
    private static func isHidden(
        _ one: ProtocolFacts, _ names: Set<String>, _ inherited: [String: [String]],
        _ functions: [String: Set<String>], _ classes: Set<String>
    ) -> Bool {
        classes.contains { name in
            let own = one.optional.intersection(functions[name] ?? [])
            guard !own.isEmpty else { return false }
            var seen: Set = [name]
            var next = inherited[name]?.first(where: classes.contains)
            while let above = next, seen.insert(above).inserted {
                let conforms = inherited[above]?.contains(where: names.contains) == true
                if conforms, !own.isSubset(of: functions[above] ?? []) { return true }
                next = inherited[above]?.first(where: classes.contains)
            }
            return false
        }
    }
}
