// What a fetch request can give.

public import Foundation

/// What a fetch request can give: objects, ids, dictionaries and numbers.
public protocol NSFetchRequestResult {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
