// Objects that note what they are asked for.
//
// An object of an entity that has no property lies in no context; its accessors find nothing in it, and say so here. Where an
// accessor gives another object, that notes, too: so a key path across relationships is followed to its end.
//
// Accessors that are asked twice of one object are those of a computed property, which no model has.
//
// Threads: a recorder lives in one call.

import CairnModel
import CairnObjects
import Foundation

/// Notes what a key path reads.
final class KeyRecorder: @unchecked Sendable {
    // Made for one key path, which one thread follows.

    /// The recorder of the key path that is followed just now.
    @TaskLocal static var current: KeyRecorder?

    private var keys: [String] = []
    /// The object that the next key has to be read of; nil: nothing can follow.
    private var next: NSManagedObject?
    private var isUnclear = false

    private init(_ root: NSManagedObject) { next = root }

    /// The keys that a path from a class reads; nil if they are not those of one property after the other.
    static func keys(of path: AnyKeyPath, from type: NSManagedObject.Type) -> [String]? {
        let root = object(of: type)
        let recorder = KeyRecorder(root)
        $current.withValue(recorder) { _ = (root as Any)[keyPath: path] }
        return recorder.isUnclear || recorder.keys.isEmpty ? nil : recorder.keys
    }

    /// An object that notes.
    private static func object(of type: NSManagedObject.Type) -> NSManagedObject {
        type.init(entity: NotingEntity.entity, insertInto: nil)
    }

    /// Notes a key.
    func note(_ key: String, of object: NSManagedObject) {
        if object !== next { isUnclear = true }
        keys.append(key)
        next = nil
    }

    /// The object that a property of a type gives; nil if the type has none.
    func follow(_ type: Any.Type) -> NSManagedObject? {
        let wrapped = (type as? any OptionalValue.Type)?.wrappedType ?? type
        guard let type = wrapped as? NSManagedObject.Type else { return nil }
        next = Self.object(of: type)
        return next
    }
}

extension NSManagedObject {
    /// Notes a key, if that is all that the object is for.
    final func notes(_ key: String) -> Bool {
        guard isNoting else { return false }
        KeyRecorder.current?.note(key, of: self)
        return true
    }

    /// The value that an accessor gives whose key was noted; nil if there is none of the type.
    final func noted<V>(_ type: V.Type) -> V? {
        guard isNoting else { return nil }
        if let object = KeyRecorder.current?.follow(type) as? V { return object }
        if let optional = type as? any OptionalValue.Type { return optional.empty as? V }
        // What is nothing but bits is a value whatever these are; nobody looks at it.
        guard _isPOD(type) else { return nil }
        return withUnsafeTemporaryAllocation(
            byteCount: MemoryLayout<V>.size, alignment: MemoryLayout<V>.alignment
        ) {
            $0.initializeMemory(as: UInt8.self, repeating: 0)
            return $0.load(as: V.self)
        }
    }
}
