// The page that plays a session, for a browser and for frames in other pages. The fragment has the signature if the session is signed.
import { makeControls } from "./controls.js";
import { write } from "./dom.js";
import { play } from "./player.js";

const video = document.getElementById("video");
const name = decodeURIComponent(location.pathname.split("/")[2]);
const signature = location.hash.slice(1);
document.title = name + " · Upright";
write(document.getElementById("title"), name);
document.getElementById("controls").append(makeControls(video));
play(video, "/live/" + encodeURIComponent(name) + (signature ? "/" + signature : "") + "/index.m3u8", text => write(document.getElementById("said"), text));
