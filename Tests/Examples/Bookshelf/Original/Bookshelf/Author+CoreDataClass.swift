import CoreData
import Foundation

/// Somebody who has written books.
@objc(Author)
public class Author: NSManagedObject {

}
