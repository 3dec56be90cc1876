// What somebody has posted.

import CoreData

/// Keeps the notifications of somebody by a name.
final class Notices {
    private(set) var all: [Notification] = []
    private var token: NSObjectProtocol?

    init(_ name: Notification.Name, of sender: NSObject) {
        token = NotificationCenter.default.addObserver(forName: name, object: sender, queue: nil) {
            [weak self] in self?.all.append($0)
        }
    }

    deinit { token.map(NotificationCenter.default.removeObserver) }

    /// The objects of the last one by a key.
    func objects(_ key: String) -> Set<NSManagedObject>? {
        all.last?.userInfo?[key] as? Set<NSManagedObject>
    }

    /// The ids of the last one by a key.
    func ids(_ key: String) -> Set<NSManagedObjectID>? {
        all.last?.userInfo?[key] as? Set<NSManagedObjectID>
    }
}
