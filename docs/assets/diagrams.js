/* Draws the Mermaid diagrams of a page, with the renderer that the site itself brings.

   The renderer is loaded only where there is a diagram. A diagram is drawn again when the reader
   changes between light and dark. Without scripts, or if a drawing fails, its source stays. */

"use strict";

(() => {
  const here = document.currentScript.src;
  const sources = new Map(); // each diagram's element, and the text that it is drawn from
  let drawn = 0;

  const isDark = () => document.body.getAttribute("data-md-color-scheme") === "slate";

  function load(address) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = failed;
      document.head.append(script);
    });
  }

  async function draw() {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      theme: isDark() ? "dark" : "neutral",
      fontFamily: "inherit",
      flowchart: { rankSpacing: 35, nodeSpacing: 30 },
    });
    for (const [place, text] of sources) {
      const { svg } = await mermaid.render(`diagram-${drawn++}`, text);
      place.innerHTML = svg;
    }
  }

  async function begin() {
    for (const block of document.querySelectorAll("pre.diagram")) {
      const place = document.createElement("div");
      place.className = "diagram";
      sources.set(place, block.textContent);
    }
    if (sources.size === 0) return;
    await load(new URL("vendor/mermaid.js", here));
    await draw();
    const blocks = document.querySelectorAll("pre.diagram");
    [...sources.keys()].forEach((place, index) => blocks[index].replaceWith(place));
    let wasDark = isDark();
    new MutationObserver(() => {
      if (isDark() === wasDark) return;
      wasDark = isDark();
      draw();
    }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  }

  document.addEventListener("DOMContentLoaded", begin);
})();
