// Objects by their keys, inserted where there are none.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// The object whose property has a value; a new one with that value if there is none.
    ///
    /// ```swift
    /// let (person, isNew) = try context.findOrInsert(Person.self, \.email, "ann@example.org")
    /// if isNew { person.since = .now }
    /// person.lastSeen = .now
    /// ```
    ///
    /// Unsaved changes count: an object that was inserted or given the value is found; one that now has another value,
    /// or is deleted, is not. In a child context, the same applies to the parent's unsaved changes. Objects of the
    /// entity's descendants are found, too.
    ///
    /// The property does not have to be unique. Among several objects with the value, one with unsaved changes comes
    /// first, then the one with the lowest id, new ones last. A uniqueness constraint on just this property defines
    /// equality: it may ignore case, or only apply to some objects. With one, or with an index, the store finds the
    /// object directly; otherwise it scans. Nil is a value: it finds an object without one.
    ///
    /// Someone else may save an object with the value before this context saves the new one. With a constraint, the
    /// merge policy then decides, as for all new objects; without one, there are two. The same applies if the
    /// constraint is inherited and an object of another entity in the hierarchy has the value: it is not found, and the
    /// save merges the new object into it only if nothing is lost, see ``MergePolicy``.
    ///
    /// - Returns: the object, and whether it was inserted by this call.
    /// - Throws: `StoreError`: `.invalidRequest` naming the property if the path does not end in a stored property, or in a
    ///   value that cannot be compared, or if the entity is abstract and there is no object; and the errors of reading. In
    ///   that case nothing is inserted.
    /// - Complexity: one store query, if no unsaved object has the value. The first call for a property examines all
    ///   changed objects of the entity, later calls only those changed since.
    public func findOrInsert<T: PersistentEntity, V>(
        _ type: T.Type, _ path: KeyPath<T, V>, _ value: V
    ) throws(StoreError) -> (object: T, isNew: Bool) {
        try findOrInsert(type, path, in: CollectionOfOne(value))[0]
    }

    /// The objects whose property has values, in the order of the values; new ones if there are none.
    ///
    /// ```swift
    /// let found = try context.findOrInsert(Product.self, \.serialCode, in: feed.map(\.code))
    /// for (item, (product, _)) in zip(feed, found) { product.price = item.price }
    /// ```
    ///
    /// The store executes one query for all values, or looks up each of them in the index of a constraint. A value that
    /// occurs several times has one object, which is reported as new at its first index only. See ``findOrInsert(_:_:_:)``.
    ///
    /// - Throws: As ``findOrInsert(_:_:_:)``.
    /// - Complexity: O(n) in the values, and that of the store's query.
    public func findOrInsert<T: PersistentEntity, V>(
        _ type: T.Type, _ path: KeyPath<T, V>, in values: some Collection<V>
    ) throws(StoreError) -> [(object: T, isNew: Bool)] {
        let entity = entity(for: type)
        let terms = try KeyTerms([try name(of: path, entity)], of: entity)
        var keys: [[Value]] = []
        keys.reserveCapacity(values.count)
        for value in values { keys.append(try terms.values { _ in Value(typed: value) }) }
        return try findOrInsert(keys, terms).map { (typed($0.object), $0.isNew) }
    }

    /// The object whose properties have values; a new one with these values if there is none.
    ///
    /// ```swift
    /// let (recipe, isNew) = try context.findOrInsert(
    ///     Recipe.self, key: [\.source: "web", \.externalID: "17"])
    /// ```
    ///
    /// See ``findOrInsert(_:_:_:)``. A to-one relationship may be a part of the key; it takes an object of this context, or an
    /// object's id.
    ///
    /// - Throws: As ``findOrInsert(_:_:_:)``.
    public func findOrInsert<T: PersistentEntity>(
        _ type: T.Type, key: [PartialKeyPath<T>: Any]
    ) throws(StoreError) -> (object: T, isNew: Bool) {
        let entity = entity(for: type)
        var named: [String: Any] = [:]
        for (path, value) in key { named[try name(of: path, entity)] = value }
        let (object, isNew) = try findOrInsert([named], of: entity)[0]
        return (typed(object), isNew)
    }

    /// The objects whose properties have values, in the order of the keys; new ones if there are none.
    ///
    /// All keys have the same properties. See ``findOrInsert(_:_:in:)``. Keys with several properties are looked up
    /// together: each by the index of a constraint on exactly these, or by one fetch of all objects with one of the
    /// values in each property.
    ///
    /// - Throws: As ``findOrInsert(_:_:_:)``.
    public func findOrInsert<T: PersistentEntity>(
        _ type: T.Type, keys: some Collection<[PartialKeyPath<T>: Any]>
    ) throws(StoreError) -> [(object: T, isNew: Bool)] {
        let entity = entity(for: type)
        var all: [[String: Any]] = []
        all.reserveCapacity(keys.count)
        for key in keys {
            var named: [String: Any] = [:]
            for (path, value) in key { named[try name(of: path, entity)] = value }
            all.append(named)
        }
        return try findOrInsert(all, of: entity).map { (typed($0.object), $0.isNew) }
    }

    /// The object of an entity whose properties have values; a new one with these values if there is none.
    ///
    /// ```swift
    /// let (tag, isNew) = try context.findOrInsert(entityName: "Tag", key: ["label": "new"])
    /// ```
    ///
    /// See ``findOrInsert(_:_:_:)``. Values are those of ``ManagedObject/setValue(_:forKey:)``; a to-one relationship also
    /// takes an object's id, and `Optional<Any>.none as Any` means nil.
    ///
    /// - Throws: As ``findOrInsert(_:_:_:)``; `.invalidRequest` if the model has no such entity.
    public func findOrInsert(
        entityName: String, key: [String: Any]
    ) throws(StoreError) -> (object: ManagedObject, isNew: Bool) {
        try findOrInsert(entityName: entityName, keys: CollectionOfOne(key))[0]
    }

    /// The objects of an entity whose properties have values, in the order of the keys; new ones where there are none.
    ///
    /// All keys have the same properties; see ``findOrInsert(_:keys:)``.
    ///
    /// - Throws: As ``findOrInsert(entityName:key:)``.
    public func findOrInsert(
        entityName: String, keys: some Collection<[String: Any]>
    ) throws(StoreError) -> [(object: ManagedObject, isNew: Bool)] {
        guard let entity = knownEntity(named: entityName) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: entityName))
        }
        return try findOrInsert(keys, of: entity)
    }

    // MARK: Keys

    private func name<T: PersistentEntity>(of path: PartialKeyPath<T>, _ entity: SchemaEntity)
        throws(StoreError) -> String
    {
        if let name = T._key(for: path) { return name }
        throw KeyTerms.wrong(entity, path.words, "a key is made of stored properties of the class")
    }

    private func typed<T: ManagedObject>(_ object: ManagedObject) -> T {
        guard let typed = object as? T else {
            preconditionFailure(
                "objects of \(object.entity.name) were requested as \(T.self), but have the class \(type(of: object))"
            )
        }
        return typed
    }

    private func findOrInsert(_ keys: some Collection<[String: Any]>, of entity: SchemaEntity)
        throws(StoreError) -> [(object: ManagedObject, isNew: Bool)]
    {
        guard let first = keys.first else { return [] }
        let terms = try KeyTerms(first.keys.sorted(), of: entity)
        var all: [[Value]] = []
        all.reserveCapacity(keys.count)
        for key in keys {
            if key.count != terms.columns.count {
                throw KeyTerms.wrong(
                    entity, key.keys.sorted().joined(separator: ", "),
                    "all keys must have the same properties")
            }
            all.append(
                try terms.values { name in
                    key[name].flatMap { Value(typed: $0) ?? Value(any: $0) }
                })
        }
        return try findOrInsert(all, terms)
    }

    // MARK: Finding

    /// - Parameter keys: values that fit, in the order of the columns.
    private func findOrInsert(_ keys: [[Value]], _ terms: KeyTerms) throws(StoreError)
        -> [(object: ManagedObject, isNew: Bool)]
    {
        try throwReadError()
        var places: [[Value]: Int] = [:]
        var asked: [[Value]] = []
        var values: [[Value]] = []
        // Keys that name an object which was folded into another one, as they were given, by their places.
        var unled: [(place: Int, key: [Value])] = []
        var order: [Int] = []
        order.reserveCapacity(keys.count)
        let state = terms.hasReferences && mayRedirect ? try source() : nil
        for original in keys {
            let given = try state.flatMap { state throws(StoreError) in try led(original, in: state)
            }
            // What is no number was refused.
            let key = terms.key(of: given ?? original) ?? given ?? original
            let place = places[key] ?? asked.count
            if place == asked.count {
                places[key] = place
                asked.append(key)
                values.append(given ?? original)
            }
            if given != nil { unled.append((place, original)) }
            order.append(place)
        }
        var found = try objects(of: try matches(of: asked, terms, count: 1))
        try findUnmerged(unled, terms, &found)
        // What faults could not read counted as nil.
        try throwReadError()
        if found.contains(where: { $0 == nil }) { try checkInserting(values, terms) }
        var isOpen = found.map { $0 == nil }
        let objects = zip(found, values).map { found, values in
            found ?? make(values, terms)
        }
        return order.map { place in
            defer { isOpen[place] = false }
            return (objects[place], isOpen[place])
        }
    }

    /// A key that names the objects in the place of those that were folded into them; nil if it names none that was.
    private func led(_ key: [Value], in state: any StoreSnapshot) throws(StoreError) -> [Value]? {
        var led: [Value]?
        for (place, value) in key.enumerated() {
            guard let id = value.reference, let other = try redirectedObjectID(for: id, in: state)
            else { continue }
            led = led ?? key
            led?[place] = .objectID(other)
        }
        return led
    }

    /// A changed object that has not been brought up to date shows the folded object still, and is found by that.
    private func findUnmerged(
        _ keys: [(place: Int, key: [Value])], _ terms: KeyTerms, _ found: inout [ManagedObject?]
    ) throws(StoreError) {
        let open = keys.filter { found[$0.place] == nil }
        if open.isEmpty { return }
        let asked = open.map { terms.key(of: $0.key) ?? $0.key }
        let others = try objects(of: try matches(of: asked, terms, count: 1))
        // Several that were folded into one may have been named: the first that somebody leads to counts.
        for ((place, _), object) in zip(open, others) where found[place] == nil {
            found[place] = object
        }
    }

    /// What cannot be inserted is found out before anything is.
    private func checkInserting(_ keys: [[Value]], _ terms: KeyTerms) throws(StoreError) {
        if terms.entity.isAbstract {
            throw KeyTerms.wrong(
                terms.entity, nil,
                "there is no such object, and it cannot be inserted: the entity is abstract")
        }
        for (place, column) in terms.columns.enumerated() {
            guard let index = terms.entity.columns[column].relationship else { continue }
            let root = schema.entities[terms.entity.relationships[index].destination].root
            for key in keys {
                guard let id = key[place].reference else { continue }
                if rootEntity(of: id)?.index != root {
                    throw StoreError(
                        .invalidRequest, "the relationship's destination is not this entity",
                        context: .init(
                            entity: terms.entity.name, key: terms.entity.columns[column].name,
                            objectID: id))
                }
            }
        }
    }

    /// A new object with a key.
    private func make(_ values: [Value], _ terms: KeyTerms) -> ManagedObject {
        let object = insert(terms.entity.name)
        for (column, value) in zip(terms.columns, values) {
            guard let index = object.entity.columns[column].relationship else {
                object.setColumn(column, value)
                continue
            }
            let destination = schema.entities[object.entity.relationships[index].destination]
            setTarget(
                of: object, index, value.reference.map { self.object(with: $0, under: destination) }
            )
        }
        return object
    }
}
