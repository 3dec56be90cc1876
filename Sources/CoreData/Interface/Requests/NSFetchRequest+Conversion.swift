// NSFetchRequest<NSFetchRequestResult>(request)
//
// Objective-C knows no parameters of classes, so that there a request is cast to one with other results. On Linux these are
// two classes, and such a cast fails.

extension NSFetchRequest {
    /// A request for the same, with results of another type.
    ///
    /// It is a copy: what is changed in one of them later does not change the other.
    public convenience init<Other>(_ other: NSFetchRequest<Other>) {
        self.init(other.settings, other.affectedStores)
    }
}
