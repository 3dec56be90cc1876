// Which notifications are posted at all: those whose names somebody has asked for.
//
// Each test is a process of its own, as names are asked for once and for all.

import CairnModel
import CairnObjects
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("Names of notifications")
struct NotificationNameTests {
    @Test("Who asks for the ids of saves does not have the objects posted")
    func ids() async {
        await #expect(processExitsWith: .success) {
            let posted = Mutex<[Notification.Name]>([])
            let token = NotificationCenter.default.addObserver(
                forName: nil, object: nil, queue: nil
            ) { notification in posted.withLock { $0.append(notification.name) } }
            let wanted = ManagedObjectContext.didSaveObjectIDsNotification
            let context = try Stack(Models.shop, .dictionary).context()
            context.make("Product", ["name": "one"])
            try context.save()
            precondition(posted.withLock { $0 } == [wanted])
            NotificationCenter.default.removeObserver(token)
        }
    }
}
