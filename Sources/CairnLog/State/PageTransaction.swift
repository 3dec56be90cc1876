// The pages that one commit allocates and replaces.
//
// Invariant ST1: a page is changed in place only by the commit that allocated it. So failure at any point
// means giving back what was taken; there is no undo.
// Threads: used by the holder of the turn alone.

/// The pages of a commit that is being made.
struct PageTransaction: ~Copyable {
    /// The commit's number.
    let epoch: UInt64
    private let pool: PagePool
    /// Everything taken from the pool, whether in use or not.
    private var taken: [UInt] = []
    /// Taken pages that are not in use, by size.
    private var idle: [[UInt]] = PageSize.allCases.map { _ in [] }
    /// Pages of older commits that the new state does without.
    private var replaced: [UInt] = []
    private var handful = 8

    init(epoch: UInt64, pool: PagePool) {
        self.epoch = epoch
        self.pool = pool
    }

    /// A page of this commit with the same content: the page itself if it is one already.
    @inline(__always)
    mutating func writable(_ page: Page) -> Page {
        page.birth == epoch ? page : copy(page)
    }

    private mutating func copy(_ page: Page) -> Page {
        let fresh = allocate(page.size)
        fresh.data.copyMemory(from: page.data, byteCount: page.size.bytes)
        replaced.append(page.address)
        return fresh
    }

    /// A page of this commit; its content is whatever was there.
    mutating func allocate(_ size: PageSize) -> Page {
        let index = Int(size.rawValue)
        if idle[index].isEmpty {
            let start = taken.count
            pool.take(size, handful, into: &taken)
            idle[index].append(contentsOf: taken[start...])
            handful = min(handful * 2, 256)
        }
        let page = Page(address: idle[index].removeLast())
        page.birth = epoch
        return page
    }

    /// A page of this commit full of zeros.
    mutating func allocateZeroed(_ size: PageSize) -> Page {
        let page = allocate(size)
        page.data.initializeMemory(as: UInt8.self, repeating: 0, count: size.bytes)
        return page
    }

    /// Says that the new state does without a page.
    mutating func release(_ page: Page) {
        if page.birth == epoch {
            idle[Int(page.size.rawValue)].append(page.address)
        } else {
            replaced.append(page.address)
        }
    }

    /// The commit is published: gives the pages that the states before may still need.
    consuming func commit() -> [Page] {
        for pages in idle where !pages.isEmpty { pool.give(pages) }
        return replaced.map { Page(address: $0) }
    }

    /// The commit failed: everything it took goes back, and nothing else is touched.
    consuming func abandon() {
        pool.give(taken)
    }
}
