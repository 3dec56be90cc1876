// The classes of a model's entities, found by the names that the model says.
//
//   1. A class that the program has named itself, by `setClass(_:forClassName:)`.
//   2. `Shop.Product`: the class of that name as Swift writes it, also inside another type; or any class Product of that module.
//   3. `Product` and `.Product`: a class Product of any module.
//   4. Of several the one whose module has the most of the model's other classes; then one that is in no other type.
//
// The runtime's own lookup needs the module, which a model mostly does not say, and does not find private classes: so all
// classes of the program are gone through, in some microseconds: once for each model, and whenever somebody asks for the full
// name of a class of a model that is not in use yet.
//
// A class that is not there is NSManagedObject, as in Core Data, and a sentence says so.

import CairnObjects
import Foundation
import Synchronization

/// The classes of a model's entities.
struct EntityClasses {
    /// The classes by entity.
    private(set) var types: [String: NSManagedObject.Type] = [:]

    init(of entities: [NSEntityDescription]) {
        for found in Self.search(entities) {
            types[found.entity.name ?? ""] =
                found.type ?? Self.missing(found.entity, found.name, found.candidates)
        }
    }

    /// The classes by entity of those that have one, before their model is in use.
    static func known(of entities: [NSEntityDescription]) -> [String: NSManagedObject.Type] {
        var types: [String: NSManagedObject.Type] = [:]
        for found in search(entities) { types[found.entity.name ?? ""] = found.type }
        return types
    }

    private struct Search {
        let entity: NSEntityDescription
        let name: ClassName
        let candidates: [ClassSearch.Found]
        let type: NSManagedObject.Type?
    }

    private static func search(_ entities: [NSEntityDescription]) -> [Search] {
        let names = entities.map { ClassName($0.statedClassName) }
        let found = ClassSearch.classes(named: Set(names.map(\.plain)))
        let candidates = names.map { name in
            name.isBase
                ? []
                : (found[name.plain] ?? []).filter {
                    name.fits($0) && $0.type is NSManagedObject.Type
                }
        }
        // How many of the classes each module has.
        var counts: [Substring: Int] = [:]
        for classes in candidates {
            for module in Set(classes.map(\.module)) { counts[module, default: 0] += 1 }
        }
        return zip(zip(entities, names), candidates).map { pair, candidates in
            Search(
                entity: pair.0, name: pair.1, candidates: candidates,
                type: choose(candidates, pair.1, counts))
        }
    }

    private static func choose(
        _ candidates: [ClassSearch.Found], _ name: ClassName, _ counts: [Substring: Int]
    ) -> NSManagedObject.Type? {
        if name.isBase { return NSManagedObject.self }
        if let set = NSEntityDescription.setClasses.withLock({ $0[name.text] }) { return set }
        if let same = candidates.first(where: { $0.name == name.text }) {
            return same.type as? NSManagedObject.Type
        }
        let most = candidates.map { counts[$0.module] ?? 0 }.max()
        var best = candidates.filter { counts[$0.module] == most }
        if best.count > 1 { best = best.filter(\.isOutermost) }
        return best.count == 1 ? best[0].type as? NSManagedObject.Type : nil
    }

    private static func missing(
        _ entity: NSEntityDescription, _ name: ClassName, _ candidates: [ClassSearch.Found]
    ) -> NSManagedObject.Type {
        let reason =
            candidates.isEmpty
            ? "the program has no subclass of NSManagedObject of that name"
            : "there are several: \(candidates.map(\.name).sorted().joined(separator: ", "))"
        StandardError.write(
            "CoreData: warning: the entity \(entity.name ?? "") has the class \(name.text), but \(reason). "
                + "Its objects are of the class NSManagedObject. "
                + "NSEntityDescription.setClass(_:forClassName:) says which class is meant.")
        return NSManagedObject.self
    }
}

/// The name of a class in a model.
private struct ClassName {
    let text: String
    /// Without the module and other types around it.
    let plain: String
    private let module: Substring?

    init(_ text: String) {
        // The module of the product, whichever that is.
        let text = text.hasPrefix(".") ? String(text.dropFirst()) : text
        self.text = text
        let parts = text.split(separator: ".")
        plain = parts.last.map(String.init) ?? text
        module = parts.count > 1 ? parts[0] : nil
    }

    var isBase: Bool { plain == "NSManagedObject" && (module == nil || module == "CoreData") }

    func fits(_ found: ClassSearch.Found) -> Bool { module == nil || module == found.module }
}

extension NSEntityDescription {
    /// The classes that the program has named itself.
    fileprivate static let setClasses = Mutex<[String: NSManagedObject.Type]>([:])

    /// Says which class a name in models means, before a container loads its stores: for a class that is called otherwise in
    /// the program, as one with `@objc(Name)` was, or if several have the name.
    ///
    /// - Parameter className: as the model's ``managedObjectClassName`` says it, without a dot at the beginning.
    public class func setClass(_ type: NSManagedObject.Type, forClassName className: String) {
        setClasses.withLock { $0[className] = type }
    }
}

/// The name of a class of objects, as models have it: with its module, and with the types that it is in.
///
/// Foundation's function ends the program if a class is inside another type.
public func NSStringFromClass(_ aClass: NSManagedObject.Type) -> String {
    String(reflecting: aClass)
}
