// Objects and their ids as values, wherever a program gives values.

package import CairnModel
import CairnObjects
import CairnStore

extension NSManagedObjectID: ValueObject {
    package var objectValue: Value { .objectID(core) }
}

extension NSManagedObject: ValueObject {
    package var objectValue: Value { .objectID((self as ManagedObject).objectID) }
}
