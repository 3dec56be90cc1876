// The command line tool `cairn`.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

exit(Tool.run(Array(CommandLine.arguments.dropFirst()), console: .standard))
