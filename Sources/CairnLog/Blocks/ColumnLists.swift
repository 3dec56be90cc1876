// Information about the columns of a block, in lists by version of the catalog, which determines the columns.
//
// The newest list is found without a lock. Lists are added under one, in front, and stay as long as the
// block: a block that is read with two versions of the catalog in turn has two, of which either may be the
// newest.
//
// Threads: any.

import Synchronization

/// Lists with an element for each column of a block.
struct ColumnLists<Element: BitwiseCopyable>: ~Copyable {
    /// The head of a list: the version of the catalog, and the previous list.
    private struct Head {
        let version: UInt
        let next: UInt
    }

    /// The address of the newest list; 0 if there is none.
    private let newest = Atomic<UInt>(0)
    private let adding = Mutex(())
    /// A cache line of the processor, so that each element of that size is in a single line.
    private static var headSize: Int { 64 }

    deinit {
        var list = UnsafeMutableRawPointer(bitPattern: newest.load(ordering: .relaxed))
        while let memory = list {
            list = UnsafeMutableRawPointer(bitPattern: memory.load(as: Head.self).next)
            memory.deallocate()
        }
    }

    /// The list of a version, if it is the newest.
    @inline(__always)
    subscript(version: UInt32) -> UnsafePointer<Element>? {
        guard let list = UnsafeRawPointer(bitPattern: newest.load(ordering: .acquiring)),
            list.load(as: Head.self).version == UInt(version)
        else { return nil }
        return (list + Self.headSize).assumingMemoryBound(to: Element.self)
    }

    /// The list of a version, whether or not it is the newest.
    private func known(_ version: UInt32) -> UnsafePointer<Element>? {
        adding.withLock { _ in
            var list = UnsafeRawPointer(bitPattern: newest.load(ordering: .relaxed))
            while let memory = list {
                let head = memory.load(as: Head.self)
                if head.version == UInt(version) {
                    return UInt(bitPattern: memory + Self.headSize)
                }
                list = UnsafeRawPointer(bitPattern: head.next)
            }
            return 0
        }.address()
    }

    /// The list of a version, which is added if there is none. If two threads do so concurrently, both add
    /// theirs: a few bytes more, until the block is freed.
    func add<E: Error>(
        _ version: UInt32, count: Int, _ element: (Int) throws(E) -> Element
    ) throws(E) -> UnsafePointer<Element> {
        if let known = known(version) { return known }
        let stride = MemoryLayout<Element>.stride
        let list = UnsafeMutableRawPointer.allocate(
            byteCount: Self.headSize + max(1, count) * stride, alignment: Self.headSize)
        do throws(E) {
            for index in 0..<count {
                list.storeBytes(
                    of: try element(index), toByteOffset: Self.headSize + index * stride,
                    as: Element.self)
            }
        } catch {
            list.deallocate()
            throw error
        }
        let address = UInt(bitPattern: list)
        adding.withLock { _ in
            UnsafeMutableRawPointer(bitPattern: address)?.storeBytes(
                of: Head(version: UInt(version), next: newest.load(ordering: .relaxed)),
                as: Head.self)
            newest.store(address, ordering: .releasing)
        }
        return UnsafePointer((list + Self.headSize).assumingMemoryBound(to: Element.self))
    }
}

extension UInt {
    /// The pointer to an address; nil for 0.
    fileprivate func address<Element>() -> UnsafePointer<Element>? {
        UnsafePointer(bitPattern: self)
    }
}
