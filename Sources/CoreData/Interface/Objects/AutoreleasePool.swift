// What keeps memory low in loops over many objects on Apple's platforms.

/// Calls a closure.
///
/// On Apple's platforms, objects that nobody holds any more may wait in a pool, which is emptied afterwards. On Linux nothing waits.
public func autoreleasepool<E: Error, Result: ~Copyable>(
    invoking body: () throws(E) -> Result
) throws(E) -> Result {
    try body()
}
