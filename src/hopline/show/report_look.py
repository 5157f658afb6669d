"""How the report looks: its style sheet, the few lines of script that draw its figures, and their colours.

What belongs here: text of CSS and JavaScript, and nothing from a trace. ``currentColor`` makes figures follow the page into
the dark and onto paper.
"""

from __future__ import annotations

from hopline.show.figures import Spec

STYLE = """
:root{--ink:#1d2329;--soft:#5f6b76;--line:#e3e7eb;--page:#fdfdfc;--card:#f4f6f7;--accent:#8a5fb0}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#9aa6b1;--line:#333b43;--page:#171b1f;
--card:#20262b;--accent:#b795d8}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",
sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1120px;margin:0 auto;padding:44px 28px 60px}
h1{font-size:29px;line-height:1.28;font-weight:620;letter-spacing:-.012em;margin:.1em 0 .5em;max-width:34em;text-wrap:balance}
h2{font-size:19px;font-weight:620;margin:52px 0 4px}
h2.numbers{margin-bottom:14px}
.what{color:var(--soft);margin:0;font-size:14px}
.note{color:var(--soft);margin:0 0 12px;font-size:14px;max-width:62em}
.findings{margin:0 0 26px;padding:0;list-style:none;max-width:60em}
.findings li{padding:3px 0 3px 16px;position:relative}
.findings li::before{content:"";position:absolute;left:0;top:.85em;width:7px;height:2px;background:var(--accent)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:14px;margin:0}
.tiles div{background:var(--card);border-radius:8px;padding:14px 16px 12px;min-width:0}
.tiles dt{color:var(--soft);font-size:13px}
.tiles dd{margin:0;font-size:23px;font-weight:600;overflow-wrap:anywhere}
.tiles dd.note{font-size:13px;font-weight:400;line-height:1.4;overflow-wrap:anywhere}
.figure{width:100%;min-height:40px}
.figure svg{max-width:100%;overflow:visible}
.vega-embed{width:100%}
.failed{color:var(--soft);border-left:3px solid var(--accent);padding:4px 12px}
details{border-top:1px solid var(--line);padding:10px 0}
summary{cursor:pointer;font-weight:600}
summary small{color:var(--soft);font-weight:400}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:14px;margin:4px 0 14px;min-width:50%}
th{color:var(--soft);font-weight:500;text-align:right;padding:4px 12px;border-bottom:1px solid var(--line);white-space:nowrap}
td{text-align:right;padding:4px 12px;white-space:nowrap;border-bottom:1px solid var(--line)}
td small{color:var(--soft);display:inline-block;min-width:3.2em;font-size:13px}
.left{text-align:left}
td.left{min-width:9em;max-width:46em;white-space:normal;overflow-wrap:anywhere}
th:first-child,td:first-child{padding-left:0}
li{overflow-wrap:anywhere}
footer{margin-top:56px;color:var(--soft);font-size:13px;border-top:1px solid var(--line);padding-top:12px}
#vg-tooltip-element{font:13px/1.4 system-ui,sans-serif!important;max-width:460px;overflow-wrap:anywhere}
@media print{:root{--ink:#000;--soft:#444;--line:#ccc;--page:#fff;--card:#f4f4f4}
main{max-width:none;padding:0}section,.tiles div,tr{break-inside:avoid}
h2{break-after:avoid}}
"""

VEGA_CONFIG: Spec = {
    "background": None,
    "font": "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif",
    "axis": {
        "labelColor": "currentColor", "titleColor": "currentColor", "gridColor": "currentColor", "gridOpacity": 0.1,
        "domainColor": "currentColor", "domainOpacity": 0.25, "tickColor": "currentColor", "tickOpacity": 0.25,
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 400, "labelOpacity": 0.85, "labelPadding": 6,
    },
    "legend": {"labelColor": "currentColor", "titleColor": "currentColor", "labelFontSize": 12, "titleFontSize": 12,
               "titleFontWeight": 400},
    "text": {"color": "currentColor", "fill": "currentColor"},
    "view": {"stroke": None},
}  # fmt: skip

SCRIPT = """
"use strict";
(function () {
  const read = id => JSON.parse(document.getElementById(id).textContent);
  const specs = read("specs");
  const places = Array.from(document.querySelectorAll("[data-figure]"));
  const fail = (place, error) => {
    const told = document.createElement("p");
    told.className = "failed";
    told.textContent = "This figure could not be drawn (" + error + "); its numbers are in the tables below.";
    place.replaceChildren(told);
  };
  const draw = place => {
    const spec = specs.figures[place.dataset.figure];
    const wide = place.clientWidth;
    const config = Object.assign({}, specs.config, {
      axisY: {labelLimit: Math.min(specs.label, Math.round(0.36 * wide))},
      legend: Object.assign({}, specs.config.legend, {
        columns: Math.max(1, Math.floor(wide / specs.entry)), labelLimit: Math.min(specs.entry, wide) - 24
      })
    });
    const options = {mode: "vega-lite", actions: false, renderer: "svg", logLevel: 1, config: config};
    return vegaEmbed(place, Object.assign({}, spec, {width: "container"}), options)
      .then(() => { place.dataset.drawn = "yes"; })
      .catch(error => fail(place, error));
  };
  Promise.all(places.map(draw)).then(() => {
    document.body.dataset.figures = String(document.querySelectorAll("[data-figure][data-drawn]").length);
  });
})();
"""
