#include "console.h"

// C23 has #embed. Clang has it for all versions of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "Pages/index.html"
};
static const unsigned char publish_html[] = {
#embed "Pages/publish.html"
};
static const unsigned char sensor_html[] = {
#embed "Pages/sensor.html"
};
static const unsigned char watch_html[] = {
#embed "Pages/watch.html"
};
static const unsigned char style_css[] = {
#embed "Pages/style.css"
};
static const unsigned char icon_svg[] = {
#embed "Pages/icon.svg"
};
static const unsigned char api_js[] = {
#embed "Pages/api.js"
};
static const unsigned char app_js[] = {
#embed "Pages/app.js"
};
static const unsigned char charts_js[] = {
#embed "Pages/charts.js"
};
static const unsigned char controls_js[] = {
#embed "Pages/controls.js"
};
static const unsigned char copy_js[] = {
#embed "Pages/copy.js"
};
static const unsigned char create_js[] = {
#embed "Pages/create.js"
};
static const unsigned char dom_js[] = {
#embed "Pages/dom.js"
};
static const unsigned char focus_js[] = {
#embed "Pages/focus.js"
};
static const unsigned char gravity_js[] = {
#embed "Pages/gravity.js"
};
static const unsigned char health_js[] = {
#embed "Pages/health.js"
};
static const unsigned char hierarchy_js[] = {
#embed "Pages/hierarchy.js"
};
static const unsigned char library_js[] = {
#embed "Pages/library.js"
};
static const unsigned char link_js[] = {
#embed "Pages/link.js"
};
static const unsigned char list_js[] = {
#embed "Pages/list.js"
};
static const unsigned char outputs_js[] = {
#embed "Pages/outputs.js"
};
static const unsigned char phone_js[] = {
#embed "Pages/phone.js"
};
static const unsigned char player_js[] = {
#embed "Pages/player.js"
};
static const unsigned char playlist_js[] = {
#embed "Pages/playlist.js"
};
static const unsigned char policy_js[] = {
#embed "Pages/policy.js"
};
static const unsigned char position_js[] = {
#embed "Pages/position.js"
};
static const unsigned char preview_js[] = {
#embed "Pages/preview.js"
};
static const unsigned char publish_js[] = {
#embed "Pages/publish.js"
};
static const unsigned char publishing_js[] = {
#embed "Pages/publishing.js"
};
static const unsigned char recordings_js[] = {
#embed "Pages/recordings.js"
};
static const unsigned char rules_js[] = {
#embed "Pages/rules.js"
};
static const unsigned char seek_js[] = {
#embed "Pages/seek.js"
};
static const unsigned char sensor_js[] = {
#embed "Pages/sensor.js"
};
static const unsigned char session_js[] = {
#embed "Pages/session.js"
};
static const unsigned char share_js[] = {
#embed "Pages/share.js"
};
static const unsigned char source_js[] = {
#embed "Pages/source.js"
};
static const unsigned char start_js[] = {
#embed "Pages/start.js"
};
static const unsigned char target_js[] = {
#embed "Pages/target.js"
};
static const unsigned char timeline_js[] = {
#embed "Pages/timeline.js"
};
static const unsigned char vod_js[] = {
#embed "Pages/vod.js"
};
static const unsigned char watch_js[] = {
#embed "Pages/watch.js"
};
static const unsigned char words_js[] = {
#embed "Pages/words.js"
};

static const unsigned char portrait_flv[] = {
#embed "Sample/portrait.flv"
};
static const unsigned char portraitUpsideDown_flv[] = {
#embed "Sample/portraitUpsideDown.flv"
};
static const unsigned char landscapeLeft_flv[] = {
#embed "Sample/landscapeLeft.flv"
};
static const unsigned char landscapeRight_flv[] = {
#embed "Sample/landscapeRight.flv"
};

static const unsigned char openapi_yaml[] = {
#embed "../../../Schemas/openapi.yaml"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const upright_console_file files[] = {
    FILE("index.html", index_html),
    FILE("publish.html", publish_html),
    FILE("sensor.html", sensor_html),
    FILE("watch.html", watch_html),
    FILE("style.css", style_css),
    FILE("icon.svg", icon_svg),
    FILE("api.js", api_js),
    FILE("app.js", app_js),
    FILE("charts.js", charts_js),
    FILE("controls.js", controls_js),
    FILE("copy.js", copy_js),
    FILE("create.js", create_js),
    FILE("dom.js", dom_js),
    FILE("focus.js", focus_js),
    FILE("gravity.js", gravity_js),
    FILE("health.js", health_js),
    FILE("hierarchy.js", hierarchy_js),
    FILE("library.js", library_js),
    FILE("link.js", link_js),
    FILE("list.js", list_js),
    FILE("outputs.js", outputs_js),
    FILE("phone.js", phone_js),
    FILE("player.js", player_js),
    FILE("playlist.js", playlist_js),
    FILE("policy.js", policy_js),
    FILE("position.js", position_js),
    FILE("preview.js", preview_js),
    FILE("publish.js", publish_js),
    FILE("publishing.js", publishing_js),
    FILE("recordings.js", recordings_js),
    FILE("rules.js", rules_js),
    FILE("seek.js", seek_js),
    FILE("sensor.js", sensor_js),
    FILE("session.js", session_js),
    FILE("share.js", share_js),
    FILE("source.js", source_js),
    FILE("start.js", start_js),
    FILE("target.js", target_js),
    FILE("timeline.js", timeline_js),
    FILE("vod.js", vod_js),
    FILE("watch.js", watch_js),
    FILE("words.js", words_js),
};

const upright_console_file *upright_console_file_at(size_t index) {
  return index < sizeof files / sizeof *files ? &files[index] : NULL;
}

const upright_console_file upright_sample_portrait = FILE("portrait.flv", portrait_flv);
const upright_console_file upright_sample_upside_down = FILE("portraitUpsideDown.flv", portraitUpsideDown_flv);
const upright_console_file upright_sample_landscape_left = FILE("landscapeLeft.flv", landscapeLeft_flv);
const upright_console_file upright_sample_landscape_right = FILE("landscapeRight.flv", landscapeRight_flv);
const upright_console_file upright_api_description = FILE("openapi.yaml", openapi_yaml);
