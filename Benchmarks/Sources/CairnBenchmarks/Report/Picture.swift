enum Picture {
    static func draw(_ report: Report) -> String { "" }
}
