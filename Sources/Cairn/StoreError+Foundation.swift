// A store's errors as Foundation's: where code shows `localizedDescription`, or works with NSError.
//
// Only here, since the layers below do without all of Foundation.

public import CairnStore
public import Foundation

extension StoreError: CustomNSError, LocalizedError {
    /// The number of the error's code, which is Core Data's.
    public var errorCode: Int { code.rawValue }
    /// The error's details, under Core Data's keys.
    public var errorUserInfo: [String: Any] { userInfo }
    /// The message: a sentence without users' data.
    public var errorDescription: String? { message }
}
