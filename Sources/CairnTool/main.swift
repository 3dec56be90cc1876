// The command line tool `cairn`.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

// A process may be started without some of these: a store's file must not get their numbers, or what is
// printed would be written into the store.
for descriptor: CInt in 0...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
    _ = open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
}

exit(Tool.run(Array(CommandLine.arguments.dropFirst()), console: .standard))
