// Archives as the bytes of values, with the names of Foundation on Apple's platforms.
//
// Here an archive is what Foundation's archiver writes on Linux: of strings, numbers, dates, data, URLs, UUIDs, arrays, sets and
// dictionaries, and of classes of the program that conform to NSSecureCoding. Apple's own classes, such as colours and
// attributed strings, are not there to be read.

import Foundation

/// Reads values from archives, and writes them.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that the whole value of an archive may be of.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self,
            NSData.self, NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    open override class func transformedValueClass() -> AnyClass {
        allowedTopLevelClasses.count == 1 ? allowedTopLevelClasses[0] : NSObject.self
    }

    /// The value of an archive; nil if it has a class that is not allowed.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        // What a collection has is of the usual classes, or allowed as well.
        let allowed =
            Self.allowedTopLevelClasses
            + NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses
        do {
            return try NSKeyedUnarchiver.unarchivedObject(ofClasses: allowed, from: data)
        } catch {
            StandardError.write("CoreData: error: an archive cannot be read: \(error)")
            return nil
        }
    }

    /// The archive of a value; nil if a part of it cannot be archived.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        do {
            return try NSKeyedArchiver.archivedData(
                withRootObject: value, requiringSecureCoding: true)
        } catch {
            StandardError.write("CoreData: error: a value cannot be archived: \(error)")
            return nil
        }
    }
}
