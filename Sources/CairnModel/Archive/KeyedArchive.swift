// An archive of objects, as NSKeyedArchiver writes it: a property list with all objects in one array, in which objects
// refer to each other by index. References have no such form in XML, so XML archives are not supported.
//
// Threads: immutable, so any.

/// The objects of a keyed archive.
package final class KeyedArchive: Sendable {
    private let objects: [PropertyList]
    /// What the archive was made of.
    private let root: PropertyList

    /// Reads an archive; nil if the bytes are none.
    package convenience init?(_ bytes: [UInt8]) {
        var left = PropertyList.mostValues
        self.init(bytes, &left)
    }

    /// Reads one of several archives.
    ///
    /// - Parameter left: how many values may still be read; what this one has is taken off.
    package init?(_ bytes: [UInt8], _ left: inout Int) {
        guard let list = PropertyList(binary: bytes, &left)?.dictionary,
            list["$archiver"]?.text == "NSKeyedArchiver",
            let objects = list["$objects"]?.array, let top = list["$top"]?.dictionary,
            let root = top["root"]
        else { return nil }
        self.objects = objects
        self.root = root
    }

    /// The object of the whole.
    package var top: ArchivedObject? { object(root) }

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
        return ArchivedObject(archive: self, type: name, members: members)
    }
}

/// An object of an archive.
package struct ArchivedObject: Sendable {
    fileprivate let archive: KeyedArchive
    /// The name of its class.
    package let type: String
    fileprivate let members: [String: PropertyList]

    /// The names of what it has.
    package var keys: [String] { members.keys.sorted() }

    /// A plain value.
    package subscript(key: String) -> PropertyList {
        members[key].map(archive.resolved) ?? .null
    }

    /// An object.
    package func object(_ key: String) -> ArchivedObject? { members[key].flatMap(archive.object) }

    /// A text, also one that is an object.
    package func text(_ key: String) -> String? {
        guard let value = members[key] else { return nil }
        return archive.text(value)
    }

    package func integer(_ key: String) -> Int64? { self[key].integer }

    /// A truth value; false if there is none.
    package func flag(_ key: String) -> Bool {
        let value = self[key]
        return value.boolean ?? (value.integer.map { $0 != 0 } ?? false)
    }

    /// The members of an array or set.
    package func list(_ key: String) -> [PropertyList] {
        guard let value = members[key] else { return [] }
        if let plain = archive.resolved(value).array { return plain }
        guard let object = archive.object(value) else { return [] }
        return object.elements
    }

    /// What an array or set has, if this is one.
    package var elements: [PropertyList] { self["NS.objects"].array ?? [] }

    /// The objects of an array or set.
    package func objects(_ key: String) -> [ArchivedObject] { list(key).compactMap(archive.object) }

    /// The texts of an array or set.
    package func texts(_ key: String) -> [String] { list(key).compactMap(archive.text) }

    /// The entries of a dictionary, in the archive's order.
    package func entries(_ key: String) -> [(key: String, value: PropertyList)] {
        object(key)?.entries ?? []
    }

    /// What a dictionary has, in the archive's order, if this is one.
    package var entries: [(key: String, value: PropertyList)] {
        var keys = self["NS.keys"].array ?? []
        var values = elements
        if let mapping = object("searchMapping") {
            // A dictionary whose keys are known beforehand: places without a value have a mark.
            keys = mapping.list("keys")
            values = list("values")
        }
        return zip(keys, values).compactMap { key, value in
            archive.text(key).map { ($0, value) }
        }
    }

    /// The objects of a dictionary, by name.
    package func namedObjects(_ key: String) -> [(key: String, object: ArchivedObject)] {
        entries(key).compactMap { name, value in archive.object(value).map { (name, $0) } }
    }

    /// A value that stands in this object's archive.
    package func resolved(_ value: PropertyList) -> PropertyList { archive.resolved(value) }

    /// An object that stands in this object's archive.
    package func object(of value: PropertyList) -> ArchivedObject? { archive.object(value) }

    /// A text that stands in this object's archive.
    package func text(of value: PropertyList) -> String? { archive.text(value) }
}

extension KeyedArchive {
    fileprivate func text(_ value: PropertyList) -> String? {
        if let text = resolved(value).text { return text }
        return object(value).flatMap { $0["NS.string"].text }
    }
}
