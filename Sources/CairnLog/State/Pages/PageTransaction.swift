// The pages that one commit allocates and replaces.
//
// Pages that are no longer used form a chain through their first eight bytes, one for each size. Pages that
// were taken but never issued are not touched: the rest of a handful is returned as it came, and fresh memory
// stays fresh.
//
// Invariant ST1: a page is changed in place only by the commit that allocated it. So after a failure at any
// point, it is sufficient to return the taken pages; there is no undo.
// Threads: used by the holder of the turn alone, or by the thread that loads a part of a checkpoint.

/// The pages of a commit in progress. It must end with `commit` or `abandon`.
package struct PageTransaction: ~Copyable {
    /// The commit's number.
    let epoch: UInt64
    private let pool: PagePool
    /// Everything taken from the pool, whether in use or not.
    private var taken: [UInt] = []
    /// The part of them that was never issued.
    private var untouched = UntouchedPages()
    /// The first page of each chain of pages that were issued and are no longer used.
    private var idleSmall = Page.none
    private var idleMedium = Page.none
    private var idleLarge = Page.none
    private var idleNode = Page.none
    /// Pages of older commits that the new state no longer needs.
    private var replaced: [Page] = []
    /// The number of pages of a size that are taken next: small commits need few of the small ones.
    private var handfuls: (small: Int, medium: Int, large: Int, node: Int) = (2, 2, 6, 4)
    private var isFinished = false

    /// - Parameter lists: the lists of a published commit, for reuse.
    init(epoch: UInt64, pool: PagePool, lists: consuming PageLists? = nil) {
        self.epoch = epoch
        self.pool = pool
        if let lists = lists.take() {
            (taken, replaced) = lists.emptied()
        } else {
            // Sufficient for a commit of one row: allocated once instead of by doubling.
            taken.reserveCapacity(24)
            replaced.reserveCapacity(24)
        }
    }

    deinit {
        // Returning the pages here would be wrong if a state with them was published; a leak is harmless.
        assert(isFinished, "a page transaction is committed or abandoned")
    }

    /// Returns a page of this commit with the same content: the page itself if it belongs to this commit.
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

    /// Returns a page of this commit; its content is undefined.
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

    /// Announces that `count` pages of a size will be used, before any of that size is. The memory of fresh
    /// pages is populated at once, instead of with a page fault for each page.
    mutating func expect(_ count: Int, _ size: PageSize) {
        guard untouched[size].isEmpty else { return }
        let start = taken.count
        pool.take(size, count, into: &taken, asksForMemory: true)
        untouched[size] = start..<taken.count
    }

    /// Returns a page of this commit full of zeros.
    mutating func allocateZeroed(_ size: PageSize) -> Page {
        let page = allocate(size)
        page.data.initializeMemory(as: UInt8.self, repeating: 0, count: size.bytes)
        return page
    }

    /// Removes a page from the new state.
    mutating func release(_ page: Page) {
        if page.birth == epoch {
            putIdle(page)
        } else {
            replaced.append(page)
        }
    }

    /// Completes the commit: its pages wait until it is published or fails.
    consuming func seal() -> SealedPages {
        isFinished = true
        return SealedPages(
            taken: taken, untouched: untouched, idleSmall: idleSmall, idleMedium: idleMedium,
            idleLarge: idleLarge,
            idleNode: idleNode, replaced: replaced)
    }

    /// Ends a published commit: returns the pages that earlier states may still need.
    consuming func commit() -> [Page] {
        let pool = pool
        let sealed = seal()
        sealed.giveUnused(to: pool)
        return sealed.replaced
    }

    /// Ends a failed commit: all its pages are returned to the pool, and nothing else is touched.
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

/// The never issued pages of a list: a part of it for each size.
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

    /// Returns the position of the first one, which is then issued.
    @inline(__always)
    mutating func removeFirst(_ size: PageSize) -> Int {
        let range = self[size]
        self[size] = range.lowerBound &+ 1..<range.upperBound
        return range.lowerBound
    }

    /// Writes the size of the pages into them.
    func sayTheirSizes(_ list: [UInt]) {
        for size in PageSize.allCases {
            for index in self[size] { Page(address: list[index]).size = size }
        }
    }
}

/// The memory of the page lists, from one commit to the next.
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

/// The pages of a complete commit that is not yet published.
struct SealedPages: ~Copyable, Sendable {
    /// Everything that was taken from the pool.
    fileprivate let taken: [UInt]
    /// The part of them that was never issued.
    fileprivate let untouched: UntouchedPages
    /// The first page of each chain of other unused pages.
    fileprivate let idleSmall: Page
    fileprivate let idleMedium: Page
    fileprivate let idleLarge: Page
    fileprivate let idleNode: Page
    /// Pages of older commits that the new state no longer needs.
    let replaced: [Page]

    /// Returns the unused pages of a published commit to the pool.
    func giveUnused(to pool: PagePool) {
        if untouched.isEmpty, idleSmall.isNone, idleMedium.isNone, idleLarge.isNone,
            idleNode.isNone
        {
            return
        }
        pool.give(
            chains: idleSmall, idleMedium, idleLarge, idleNode, and: untouched, of: taken)
    }

    /// Returns all pages of a failed commit to the pool, and touches nothing else.
    func giveAll(to pool: PagePool) {
        if taken.isEmpty { return }
        untouched.sayTheirSizes(taken)
        pool.give(taken)
    }

    /// Returns the lists of a published commit for the next one, unless it had thousands of pages.
    consuming func lists() -> PageLists? {
        let most = 1024
        if taken.capacity > most || replaced.capacity > most { return nil }
        return PageLists(taken: taken, replaced: replaced)
    }
}
