// Where the tool's output goes: the terminal, or a test.

/// The output of the tool.
struct PortConsole {
    let output: (String) -> Void
    let errors: (String) -> Void
}
