// The pages that one commit allocates and replaces.
//
// Pages that were in use form a chain through their first eight bytes, one for each size. Of those that are taken and were never
// handed out nothing is touched: of a handful the rest goes back as it came, and fresh memory stays fresh.
//
// Invariant ST1: a page is changed in place only by the commit that allocated it. So failure at any point
// means giving back what was taken; there is no undo.
// Threads: used by the holder of the turn alone.

/// The pages of a commit in progress. It must end with `commit` or `abandon`.
package struct PageTransaction: ~Copyable {
    /// The commit's number.
    let epoch: UInt64
    private let pool: PagePool
    /// Everything taken from the pool, whether in use or not.
    private var taken: [UInt] = []
    /// Which of them were never handed out.
    private var untouched = UntouchedPages()
    /// The first page of each chain of pages that were handed out and are not in use.
    private var idleSmall = Page.none
    private var idleMedium = Page.none
    private var idleLarge = Page.none
    private var idleNode = Page.none
    /// Pages of older commits that the new state does without.
    private var replaced: [Page] = []
    /// How many pages of a size are taken next: small commits need few of the small ones.
    private var handfuls: (small: Int, medium: Int, large: Int, node: Int) = (2, 2, 6, 4)
    private var isFinished = false

    /// - Parameter lists: those of a commit that is published, to be used again.
    init(epoch: UInt64, pool: PagePool, lists: consuming PageLists? = nil) {
        self.epoch = epoch
        self.pool = pool
        if let lists = lists.take() {
            (taken, replaced) = lists.emptied()
        } else {
            // What a commit of a row needs, at once instead of by doubling.
            taken.reserveCapacity(24)
            replaced.reserveCapacity(24)
        }
    }

    deinit {
        // Giving the pages back here would be wrong if a state with them was published; a leak is harmless.
        assert(isFinished, "a page transaction is committed or abandoned")
    }

    /// A page of this commit with the same content: the page itself if it is one already.
    @inline(__always)
    mutating func writable(_ page: Page) -> Page {
        page.birth == epoch ? page : copy(page)
    }

    @inline(never)
    private mutating func copy(_ page: Page) -> Page {
        let fresh = allocate(page.size)
        fresh.data.copyMemory(from: page.data, byteCount: page.size.bytes)
        replaced.append(page)
        return fresh
    }

    /// A page of this commit; its content is whatever was there.
    mutating func allocate(_ size: PageSize) -> Page {
        var page = idle(size)
        if page.isNone {
            if untouched[size].isEmpty { takeHandful(size) }
            page = Page(address: taken[untouched.removeFirst(size)])
            page.size = size
        } else {
            setIdle(size, Page(address: page.data.load(as: UInt.self)))
        }
        page.birth = epoch
        return page
    }

    /// Says that so many pages of a size will be used, before any of that size is. The memory of those that are fresh is asked
    /// for at once, where each would be asked for by itself when it is first touched.
    mutating func expect(_ count: Int, _ size: PageSize) {
        guard untouched[size].isEmpty else { return }
        let start = taken.count
        pool.take(size, count, into: &taken, asksForMemory: true)
        untouched[size] = start..<taken.count
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
            putIdle(page)
        } else {
            replaced.append(page)
        }
    }

    /// The commit is whole: its pages wait for what becomes of it.
    consuming func seal() -> SealedPages {
        isFinished = true
        return SealedPages(
            taken: taken, untouched: untouched, idleSmall: idleSmall, idleMedium: idleMedium,
            idleLarge: idleLarge,
            idleNode: idleNode, replaced: replaced)
    }

    /// The commit is published: gives the pages that the states before may still need.
    consuming func commit() -> [Page] {
        let pool = pool
        let sealed = seal()
        sealed.giveUnused(to: pool)
        return sealed.replaced
    }

    /// The commit failed: everything it took goes back, and nothing else is touched.
    consuming func abandon() {
        if !taken.isEmpty {
            untouched.sayTheirSizes(taken)
            pool.give(taken)
        }
        isFinished = true
    }

    // MARK: Idle pages

    @inline(never)
    private mutating func takeHandful(_ size: PageSize) {
        let start = taken.count
        let handful: Int
        switch size {
        case .small:
            handful = handfuls.small
            handfuls.small = min(handful * 2, 256)
        case .medium:
            handful = handfuls.medium
            handfuls.medium = min(handful * 2, 256)
        case .large:
            handful = handfuls.large
            handfuls.large = min(handful * 2, 256)
        case .node:
            handful = handfuls.node
            handfuls.node = min(handful * 2, 256)
        }
        pool.take(size, handful, into: &taken)
        untouched[size] = start..<taken.count
    }

    @inline(__always)
    private mutating func putIdle(_ page: Page) {
        let size = page.size
        page.data.storeBytes(of: idle(size).address, as: UInt.self)
        setIdle(size, page)
    }

    @inline(__always)
    private func idle(_ size: PageSize) -> Page {
        switch size {
        case .small: idleSmall
        case .medium: idleMedium
        case .large: idleLarge
        case .node: idleNode
        }
    }

    @inline(__always)
    private mutating func setIdle(_ size: PageSize, _ page: Page) {
        switch size {
        case .small: idleSmall = page
        case .medium: idleMedium = page
        case .large: idleLarge = page
        case .node: idleNode = page
        }
    }
}

/// Which pages of a list were never handed out: a part of it for each size.
struct UntouchedPages {
    private var small = 0..<0
    private var medium = 0..<0
    private var large = 0..<0
    private var node = 0..<0

    @inline(__always)
    subscript(_ size: PageSize) -> Range<Int> {
        get {
            switch size {
            case .small: small
            case .medium: medium
            case .large: large
            case .node: node
            }
        }
        set {
            switch size {
            case .small: small = newValue
            case .medium: medium = newValue
            case .large: large = newValue
            case .node: node = newValue
            }
        }
    }

    var isEmpty: Bool { small.isEmpty && medium.isEmpty && large.isEmpty && node.isEmpty }

    /// The place of the first one, which is handed out.
    @inline(__always)
    mutating func removeFirst(_ size: PageSize) -> Int {
        let range = self[size]
        self[size] = range.lowerBound &+ 1..<range.upperBound
        return range.lowerBound
    }

    /// Writes into the pages what size they have.
    func sayTheirSizes(_ list: [UInt]) {
        for size in PageSize.allCases {
            for index in self[size] { Page(address: list[index]).size = size }
        }
    }
}

/// The memory of the lists of pages, from one commit to the next.
struct PageLists: ~Copyable {
    private var taken: [UInt]
    private var replaced: [Page]

    fileprivate init(taken: consuming [UInt], replaced: consuming [Page]) {
        self.taken = taken
        self.replaced = replaced
    }

    fileprivate consuming func emptied() -> ([UInt], [Page]) {
        taken.removeAll(keepingCapacity: true)
        replaced.removeAll(keepingCapacity: true)
        return (taken, replaced)
    }
}

/// The pages of a commit that is whole and not yet published.
struct SealedPages: ~Copyable, Sendable {
    /// Everything that was taken from the pool.
    fileprivate let taken: [UInt]
    /// Which of them were never handed out.
    fileprivate let untouched: UntouchedPages
    /// The first page of each chain of what else is not in use.
    fileprivate let idleSmall: Page
    fileprivate let idleMedium: Page
    fileprivate let idleLarge: Page
    fileprivate let idleNode: Page
    /// Pages of older commits that the new state does without.
    let replaced: [Page]

    /// The commit is published: what it did not use goes back.
    func giveUnused(to pool: PagePool) {
        if untouched.isEmpty, idleSmall.isNone, idleMedium.isNone, idleLarge.isNone,
            idleNode.isNone
        {
            return
        }
        pool.give(
            chains: idleSmall, idleMedium, idleLarge, idleNode, and: untouched, of: taken)
    }

    /// The commit failed: everything it took goes back, and nothing else is touched.
    func giveAll(to pool: PagePool) {
        if taken.isEmpty { return }
        untouched.sayTheirSizes(taken)
        pool.give(taken)
    }

    /// The commit is published: its lists are for the next one, unless it was one of thousands of pages.
    consuming func lists() -> PageLists? {
        let most = 1024
        if taken.capacity > most || replaced.capacity > most { return nil }
        return PageLists(taken: taken, replaced: replaced)
    }
}
