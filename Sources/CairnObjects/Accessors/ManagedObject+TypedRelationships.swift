// What the generated accessors of relationships call, and those of properties that cannot be stored.

extension ManagedObject {
    /// The target of a to-one relationship. Called by generated accessors.
    public final func _read<T: ManagedObject>(_ property: Int) -> T? {
        guard let context = managedObjectContext else { return nil }
        guard case .target(let index) = binding.slot(property) else { mismatch(property) }
        access(relationship: index)
        return context.target(of: self, index).map { typed($0, property) }
    }

    /// Sets a to-one relationship and its inverse. Generated accessors call it.
    public final func _write<T: ManagedObject>(_ property: Int, _ value: T?) {
        guard case .target(let index) = binding.slot(property) else { mismatch(property) }
        placed(property).setTarget(of: self, index, value)
    }

    /// The members of a to-many relationship. Generated accessors call it.
    @inlinable public final func _read<T: ManagedObject>(_ property: Int) -> Set<T> {
        // A set of a class is as fast as its module knows the class, which is not this one.
        let members = _members(property)
        var set = Set<T>(minimumCapacity: members.count)
        for member in members {
            guard type(of: member) == T.self || member is T else {
                _isNoMember(member, property, T.self)
            }
            set.insert(unsafeDowncast(member, to: T.self))
        }
        return set
    }

    /// The members of a to-many relationship, by number: in their order, if they have one.
    @usableFromInline final func _members(_ property: Int) -> [ManagedObject] {
        guard let context = managedObjectContext else { return [] }
        guard case .members(let index) = binding.slot(property) else { mismatch(property) }
        access(relationship: index)
        return context.members(of: self, index)
    }

    /// Says that a related object is of another class than the declared one, and stops.
    @usableFromInline final func _isNoMember(
        _ object: ManagedObject, _ property: Int, _ wanted: ManagedObject.Type
    ) -> Never {
        binding.misuse(
            property,
            "leads to \(wanted), but the object is a \(Swift.type(of: object)): the container must know the classes of both entities"
        )
    }

    /// Sets a to-many relationship and its inverse. Generated accessors call it.
    public final func _write<T: ManagedObject>(_ property: Int, _ value: Set<T>) {
        guard case .members(let index) = binding.slot(property) else { mismatch(property) }
        placed(property).setMembers(of: self, index, value)
    }

    /// The members of an ordered to-many relationship, in their order. Generated accessors call it.
    public final func _read<T: ManagedObject>(_ property: Int) -> [T] {
        _members(property).map { typed($0, property) }
    }

    /// Sets an ordered to-many relationship and its inverse. A member that occurs twice is kept at its first position.
    /// Generated accessors call it.
    public final func _write<T: ManagedObject>(_ property: Int, _ value: [T]) {
        guard case .members(let index) = binding.slot(property) else { mismatch(property) }
        placed(property).setMembers(of: self, index, value as [ManagedObject])
    }

    /// The context of an object whose relationship is set.
    private func placed(_ property: Int) -> ManagedObjectContext {
        guard let context = managedObjectContext else {
            binding.misuse(
                property, "cannot be set: an object outside a context has no relationships")
        }
        return context
    }

    /// A related object as one of the declared class.
    @inline(__always)
    private func typed<T: ManagedObject>(_ object: ManagedObject, _ property: Int) -> T {
        guard let object = object as? T else { _isNoMember(object, property, T.self) }
        return object
    }
}

// MARK: What cannot be a property

extension ManagedObject {
    /// Any other type. That it cannot be stored is reported where the property is described, and once is
    /// enough: so these exist.
    @_disfavoredOverload
    public final func _read<V>(_ property: Int) -> V {
        binding.misuse(property, "is of a type that cannot be stored")
    }

    /// Any other type.
    @_disfavoredOverload
    public final func _write<V>(_ property: Int, _ value: V) {
        binding.misuse(property, "is of a type that cannot be stored")
    }

    /// An integer that cannot be stored.
    public final func _read<V: UnstorableInteger>(_ property: Int) -> V {
        binding.misuse(property, "is of a type that cannot be stored")
    }

    /// An integer that cannot be stored.
    public final func _write<V: UnstorableInteger>(_ property: Int, _ value: V) {
        binding.misuse(property, "is of a type that cannot be stored")
    }
}
