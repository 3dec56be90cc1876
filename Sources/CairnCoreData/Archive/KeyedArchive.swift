// An archive of objects, as NSKeyedArchiver writes it: a property list with all objects in one array, in which
// objects name each other by their places.
//
// Threads: immutable, so any.

import FoundationEssentials

/// The objects of a keyed archive.
final class KeyedArchive: Sendable {
    private let objects: [PropertyList]
    /// What the archive was made of.
    let root: PropertyList

    /// Reads an archive; nil if the bytes are none.
    init?(_ bytes: [UInt8]) {
        guard let list = PropertyList(bytes)?.dictionary,
            list["$archiver"]?.text == "NSKeyedArchiver",
            let objects = list["$objects"]?.array, let top = list["$top"]?.dictionary,
            let root = top["root"]
        else { return nil }
        self.objects = objects
        self.root = root
    }

    /// The object of the whole.
    var top: ArchivedObject? { object(root) }

    /// What a value leads to.
    fileprivate func resolved(_ value: PropertyList) -> PropertyList {
        guard case .reference(let index) = value, objects.indices.contains(index) else {
            return value
        }
        // An object is not a reference itself.
        if case .text("$null") = objects[index] { return .null }
        return objects[index]
    }

    fileprivate func object(_ value: PropertyList) -> ArchivedObject? {
        guard let members = resolved(value).dictionary, let type = members["$class"],
            let name = resolved(type).dictionary?["$classname"]?.text
        else { return nil }
        var identity: Int?
        if case .reference(let index) = value { identity = index }
        return ArchivedObject(archive: self, type: name, members: members, identity: identity)
    }
}

/// An object of an archive.
struct ArchivedObject: Sendable {
    fileprivate let archive: KeyedArchive
    /// The name of its class.
    let type: String
    fileprivate let members: [String: PropertyList]
    /// Its place in the archive.
    let identity: Int?

    /// The names of what it has.
    var keys: [String] { members.keys.sorted() }

    /// A plain value.
    subscript(key: String) -> PropertyList {
        members[key].map(archive.resolved) ?? .null
    }

    /// An object.
    func object(_ key: String) -> ArchivedObject? { members[key].flatMap(archive.object) }

    /// A text, also one that is an object.
    func text(_ key: String) -> String? {
        guard let value = members[key] else { return nil }
        return archive.text(value)
    }

    func integer(_ key: String) -> Int64? { self[key].integer }

    /// A truth value; false if there is none.
    func flag(_ key: String) -> Bool {
        let value = self[key]
        return value.boolean ?? (value.integer.map { $0 != 0 } ?? false)
    }

    /// The members of an array or set.
    func list(_ key: String) -> [PropertyList] {
        guard let value = members[key] else { return [] }
        if let plain = archive.resolved(value).array { return plain }
        guard let object = archive.object(value) else { return [] }
        return object.elements
    }

    /// What an array or set has, if this is one.
    var elements: [PropertyList] { self["NS.objects"].array ?? [] }

    /// The objects of an array or set.
    func objects(_ key: String) -> [ArchivedObject] { list(key).compactMap(archive.object) }

    /// The texts of an array or set.
    func texts(_ key: String) -> [String] { list(key).compactMap(archive.text) }

    /// The entries of a dictionary, in the archive's order.
    func entries(_ key: String) -> [(key: String, value: PropertyList)] {
        guard let value = members[key], let object = archive.object(value) else { return [] }
        var keys = object["NS.keys"].array ?? []
        var values = object.elements
        if let mapping = object.object("searchMapping") {
            // A dictionary whose keys are known beforehand: places without a value have a mark.
            keys = mapping.list("keys")
            values = object.list("values")
        }
        return zip(keys, values).compactMap { key, value in
            archive.text(key).map { ($0, value) }
        }
    }

    /// The objects of a dictionary, by name.
    func namedObjects(_ key: String) -> [(key: String, object: ArchivedObject)] {
        entries(key).compactMap { name, value in archive.object(value).map { (name, $0) } }
    }

    /// A value that stands in this object's archive.
    func resolved(_ value: PropertyList) -> PropertyList { archive.resolved(value) }

    /// An object that stands in this object's archive.
    func object(of value: PropertyList) -> ArchivedObject? { archive.object(value) }

    /// A text that stands in this object's archive.
    func text(of value: PropertyList) -> String? { archive.text(value) }
}

extension KeyedArchive {
    fileprivate func text(_ value: PropertyList) -> String? {
        if let text = resolved(value).text { return text }
        return object(value).flatMap { $0["NS.string"].text }
    }
}
