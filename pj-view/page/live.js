// Announcements for screen readers, and notices. All of them use the page's only live region. It also shows them for
// some seconds, for everyone.
import { byId } from "./dom.js";

const SHOWN = 4000;

export class Live {
  constructor() {
    this.node = byId("live");
    this.timer = 0;
  }

  /** @param {string} text */
  say(text) {
    this.node.textContent = text;
    this.node.classList.add("shown");
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.node.classList.remove("shown"), SHOWN);
  }
}
