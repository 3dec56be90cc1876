// What programs that tests start keep open of what others have opened.

#if canImport(Glibc)
    package import Glibc

    /// Has a program that is started with these actions get no descriptor from a number on.
    ///
    /// It would keep the connections of tests open that run beside it, and whoever waits for their end waits for ever.
    package func closeDescriptors(
        from first: Int32, in actions: inout posix_spawn_file_actions_t
    ) {
        typealias Function =
            @convention(c) (
                UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
            ) -> Int32
        // Its header declares it for programs in C alone.
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        let code = unsafeBitCast(symbol, to: Function.self)(&actions, first)
        precondition(code == 0, "a child's descriptors can be closed")
    }
#endif
