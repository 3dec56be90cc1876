// The style of a report: light and dark like its reader's system, light on paper, down to 360 pixels.

import CairnPictures

/// The style sheet of a report.
enum ReportStyle {
    static let sheet = """
        :root{color-scheme:light dark;--page:#f5f7fa;--card:#ffffff;--edge:#d8dee7;--link:#1c5fb0;\
        --good:#1b6e3c;--good-back:#dff3e5;--bad:#a3161d;--bad-back:#fde3e3;--unclear-back:#fdf1d3;\
        --unclear:#7a5200;\(Ink.declarations(dark: false))}
        @media (prefers-color-scheme:dark){:root{--page:#11151a;--card:#171b21;--edge:#323a46;--link:#86b9f5;\
        --good:#86d9a3;--good-back:#173a25;--bad:#ff9a97;--bad-back:#47191b;--unclear-back:#40330f;\
        --unclear:#f0cf7a;\(Ink.declarations(dark: true))}}
        @media print{:root{color-scheme:light;--page:#fff;--card:#fff;--edge:#ccc;--link:#1c5fb0;--good:#1b6e3c;\
        --good-back:#dff3e5;--bad:#a3161d;--bad-back:#fde3e3;--unclear-back:#fdf1d3;--unclear:#7a5200;\
        \(Ink.declarations(dark: false))}}
        *{box-sizing:border-box}body{print-color-adjust:exact;-webkit-print-color-adjust:exact}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--page);color:var(--cairn-text);font:15px/1.5 system-ui,-apple-system,\
        "Segoe UI",Roboto,"Noto Sans",sans-serif}
        a{color:var(--link)}
        :focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
        .skip{position:absolute;left:-999em}
        .skip:focus{left:8px;top:8px;background:var(--card);padding:8px 12px;z-index:2}
        header,main,footer{max-width:1160px;margin:0 auto;padding:0 20px}
        header{padding-top:26px}
        h1{font-size:26px;line-height:1.25;margin:0 0 2px;overflow-wrap:anywhere}
        h2{font-size:19px;margin:0 0 12px}
        h3{font-size:15px;margin:26px 0 8px;overflow-wrap:anywhere}
        h3 .kind{font-weight:400;color:var(--cairn-muted)}
        p{margin:0 0 10px;max-width:75ch}
        .quiet{color:var(--cairn-muted)}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:18px 0;\
        padding:0;list-style:none}
        .tiles li{background:var(--card);border:1px solid var(--edge);border-radius:9px;padding:10px 14px;min-width:0}
        .tiles b{display:block;font-size:20px;line-height:1.3;overflow-wrap:anywhere}
        .tiles span{color:var(--cairn-muted);font-size:13px}
        .tiles .good{background:var(--good-back);border-color:transparent}.tiles .good b{color:var(--good)}
        .tiles .bad{background:var(--bad-back);border-color:transparent}.tiles .bad b{color:var(--bad)}
        .tiles .good span,.tiles .bad span{color:var(--cairn-text)}
        nav ul{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 4px;padding:0;list-style:none}
        section{background:var(--card);border:1px solid var(--edge);border-radius:11px;padding:18px 20px;\
        margin:18px 0;min-width:0}
        .scroll{overflow-x:auto;max-width:100%}
        table{border-collapse:collapse;font-size:13.5px;margin:0 0 6px}
        caption{text-align:left;color:var(--cairn-muted);padding:6px 0 6px;font-size:13px}
        th,td{text-align:left;vertical-align:top;padding:5px 22px 5px 0;border-bottom:1px solid var(--edge);\
        font-weight:400;overflow-wrap:break-word;min-width:4.5em;max-width:44em}
        thead th{font-weight:600;white-space:nowrap}
        tbody th{font-weight:600}
        .unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
        .line{white-space:nowrap}.lines{white-space:pre-line;min-width:20em}
        .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
        dl{display:grid;grid-template-columns:minmax(120px,max-content) minmax(0,1fr);gap:3px 18px;margin:0 0 12px;\
        font-size:14px}
        dt{color:var(--cairn-muted)}dd{margin:0;overflow-wrap:anywhere}
        code{white-space:nowrap;font:12.5px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
        .verdict{border-radius:7px;padding:9px 13px;font-weight:600;max-width:none}
        .verdict.good{background:var(--good-back);color:var(--good)}
        .verdict.bad{background:var(--bad-back);color:var(--bad)}
        .missing{background:var(--unclear-back);color:var(--unclear);border-radius:7px;padding:9px 13px;max-width:none;\
        overflow-wrap:anywhere}
        figure{margin:0 0 10px}
        figure svg{display:block;width:100%;height:auto}
        figure.scroll{border:1px solid var(--edge);border-radius:8px;padding:10px;max-height:85vh;overflow:auto}
        figure.scroll svg{width:auto}
        .narrow{display:none}
        .bar{width:64px;height:8px;margin-right:9px;vertical-align:middle;fill:var(--cairn-live)}
        .cairn-link:hover path{stroke-width:2.4px}
        .cairn-segment:hover,.cairn-commit:hover,.cairn-row:hover{opacity:.75}
        details{margin:8px 0}
        summary{cursor:pointer;font-size:14px;padding:3px 0}
        .index{columns:190px;margin:0 0 10px;padding:0;list-style:none;font-size:14px}
        footer{padding-bottom:40px;color:var(--cairn-muted);font-size:13px}
        @media (max-width:640px){header,main,footer{padding-left:12px;padding-right:12px}section{padding:14px 12px}\
        .wide{display:none}.narrow{display:block}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:6px}\
        h1{font-size:22px}.tiles{grid-template-columns:1fr 1fr}.tiles b{font-size:17px}}
        @media print{body{font-size:11pt}section{border:0;padding:0;break-inside:auto}nav{display:none}\
        h2,h3{break-after:avoid}tr,figure,.tiles li{break-inside:avoid}thead{display:table-header-group}\
        .scroll,figure.scroll{overflow:visible;max-height:none;border:0}figure.scroll svg{width:100%}\
        .wide{display:block}.narrow{display:none}details::details-content{content-visibility:visible;height:auto}}
        """
}
