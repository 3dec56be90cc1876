import CoreData
import Foundation

/// Somebody who has written books.
public class Author: NSManagedObject {

}
