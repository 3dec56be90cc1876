// The columns of composite attributes by their names.

extension SchemaEntity {
    /// The columns of a composite attribute, or of a composite element by its dotted name; nil if there is none with that
    /// name.
    package func compositeColumns(_ name: String) -> Range<Int>? {
        let attribute = name.prefix { $0 != "." }
        guard let index = attributeIndex(named: String(attribute)),
            attributes[index].description.type == .composite
        else { return nil }
        let all = attributes[index].columns
        if attribute.count == name.count { return all }
        let dotted = name + "."
        guard let first = all.first(where: { columns[$0].name.hasPrefix(dotted) }),
            let last = all.last(where: { columns[$0].name.hasPrefix(dotted) })
        else { return nil }
        return first..<last + 1
    }
}
