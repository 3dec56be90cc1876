// Whether a class looks at the values of its objects itself.
//
// A save shows each value that was set to `validateValue(_:forKey:)`, as an object of Foundation: that takes its time, and
// few classes override it. A class that does has another address in its table of methods, in one place. Which place that is,
// two classes tell, one of which overrides the method and the other does not: in all else they are alike.
//
// Invariants: if no such place is found, every class counts as one that overrides.

import CairnModel
import CairnObjects
import Foundation

enum OverriddenValidation {
    private class Plain: NSManagedObject {}

    private class Overriding: NSManagedObject {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {}
    }

    /// The place in the table of methods; nil if it is not the only one.
    private static let place: Int? = {
        let base = words(NSManagedObject.self)
        let plain = words(Plain.self)
        let overriding = words(Overriding.self)
        let places = (firstMethod..<count(NSManagedObject.self)).filter {
            base[$0] == plain[$0] && base[$0] != overriding[$0]
        }
        return places.count == 1 ? places[0] : nil
    }()

    /// Whether a class overrides the method.
    static func isIn(_ type: NSManagedObject.Type) -> Bool {
        guard let place else { return true }
        return words(type)[place] != words(NSManagedObject.self)[place]
    }

    /// The metadata of a class: what it inherits comes first, in the same places.
    private static func words(_ type: NSManagedObject.Type) -> UnsafePointer<UInt> {
        unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    }

    /// Kind and superclass, flags and address point, the sizes, the descriptor and what destroys an object come before methods.
    private static let firstMethod = 7

    /// How many words there are from the address point to the end.
    private static func count(_ type: NSManagedObject.Type) -> Int {
        let sizes = words(type)[4]
        let (size, addressPoint) = (sizes & 0xffff_ffff, sizes >> 32)
        return Int(size - addressPoint) / MemoryLayout<UInt>.size
    }
}
