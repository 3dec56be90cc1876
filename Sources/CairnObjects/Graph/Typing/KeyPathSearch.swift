// Which key a key path stands for that leads across relationships, as `\Product.maker?.name`.
//
// A key path cannot be taken apart, but two can be compared: paths are put together of the properties of the entities that
// relationships lead to, until one is equal.
//
//   1. Paths with few relationships first. A path is only put together if its value is of the type that is looked for.
//   2. `a?.b` is `a`, followed by the path of `b` of an object that there may be; `a!.b` is `a`, unwrapped, and `b`.
//   3. A path that was put together notes of itself whether it could be written through in another way than one that was
//      written in one piece, and is equal to it only if both are appended, whole, to the same third: the anchor.
//
// What is put together of pieces ends with what the last piece gives. So of paths with `?` those are not found in which more
// follows than one property of the object: the element of a composite value that is not optional, or `!`.
//
// Threads: any; nothing is kept.

import CairnModel

/// The key paths of a property. Created by generated code.
public struct PropertyPaths {
    /// That of an object.
    let own: AnyKeyPath
    /// That of an object that there may be.
    let chained: AnyKeyPath

    /// The key paths of a property: `\Product.name` and `\Product?.?.name`.
    public init(_ own: AnyKeyPath, _ chained: AnyKeyPath) {
        self.own = own
        self.chained = chained
    }
}

extension ManagedObject {
    /// The key paths of the property with a number; here there is none. Called by generated code.
    public static func _paths<T: ManagedObject>(_ property: Int, of root: T.Type) -> PropertyPaths?
    {
        property == TypedEntity._identity ? PropertyPaths(\Anchor<T>.object, \T?.!) : nil
    }
}

/// Where a path begins to which others are appended, so that they can be compared.
private struct Anchor<T> {
    var object: T
}

struct KeyPathSearch {
    /// The most relationships that are followed.
    private static let mostSteps = 4
    /// The most properties that are looked at. Of what is not found by then the key has to be written as text, as of what
    /// cannot be followed at all.
    private static let mostLooks = 100_000

    private let entity: TypedEntity
    private let anchor: AnyKeyPath
    /// What is looked for, behind the anchor.
    private let path: AnyKeyPath
    private let type: Any.Type
    private var looks = 0

    /// A search for a path that begins at a class; nil if it begins elsewhere.
    init?(_ path: AnyKeyPath, of entity: TypedEntity) {
        guard let anchor = entity.paths(TypedEntity._identity)?.own,
            let anchored = anchor.appending(path: path)
        else { return nil }
        self.entity = entity
        self.anchor = anchor
        self.path = anchored
        type = Swift.type(of: path).valueType
    }

    /// A way to an object, or to a value.
    private struct Way {
        var pieces: [AnyKeyPath] = []
        var key = ""
        /// Whether a piece begins with `?`.
        var isChained = false

        func going(_ name: String, _ more: AnyKeyPath..., isChained: Bool = false) -> Way {
            Way(
                pieces: pieces + more, key: key.isEmpty ? name : "\(key).\(name)",
                isChained: self.isChained || isChained)
        }
    }

    /// The key; nil if none is found.
    consuming func key() -> String? {
        for steps in 0...Self.mostSteps {
            if let key = key(from: Way(), entity, steps) { return key }
        }
        return nil
    }

    /// The key of what lies so many relationships behind an object.
    private mutating func key(from way: Way, _ entity: TypedEntity, _ steps: Int) -> String? {
        for (number, property) in entity.properties.enumerated() {
            looks += 1
            guard looks < Self.mostLooks else { return nil }
            guard let own = entity.paths(number) else { continue }
            for next in ways(from: way, entity, property.name, own) {
                if steps == 0 {
                    if isIt(next) { return next.key }
                    if let parts = property.parts, let key = key(in: parts, next) { return key }
                } else if case .relationship(let relationship, let destination) = property.content,
                    !relationship.isToMany, let other = destination._typedEntity,
                    let key = key(from: next, other, steps - 1)
                {
                    return key
                }
            }
        }
        return nil
    }

    /// The key of a leaf of a composite value.
    private mutating func key(in parts: CompositeParts, _ way: Way) -> String? {
        for (element, path) in zip(parts.elements(), parts.paths()) {
            let name = element.description.name
            for next in [
                way.going(name, path.own), way.going(name, path.chained, isChained: true),
            ] {
                if isIt(next) { return next.key }
                if let parts = element.parts, let key = key(in: parts, next) { return key }
            }
        }
        return nil
    }

    /// The ways on to a property.
    private func ways(
        from way: Way, _ entity: TypedEntity, _ name: String, _ paths: PropertyPaths
    ) -> [Way] {
        if way.pieces.isEmpty { return [way.going(name, paths.own)] }
        var ways = [way.going(name, paths.chained, isChained: true)]
        if !way.isChained, let unwrapped = entity.paths(TypedEntity._identity)?.chained {
            ways.append(way.going(name, unwrapped, paths.own))
        }
        return ways
    }

    /// Whether a way is the path.
    private mutating func isIt(_ way: Way) -> Bool {
        guard var whole = way.pieces.last, Swift.type(of: whole).valueType == type else {
            return false
        }
        for piece in way.pieces.dropLast().reversed() {
            guard let longer = piece.appending(path: whole) else { return false }
            whole = longer
        }
        return anchor.appending(path: whole) == path
    }
}
