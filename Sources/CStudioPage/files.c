/* The table of the page's files. A file that is added to page/ needs two lines here: its bytes, and its entry. */

#include "CStudioPage.h"

/* #embed is part of C23; clang has it in every mode. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char html[] = "text/html; charset=utf-8";
static const char script[] = "text/javascript; charset=utf-8";
static const char style[] = "text/css; charset=utf-8";
static const char icon[] = "image/svg+xml";

static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};
static const unsigned char app_api_js[] = {
#embed "page/scripts/app/api.js"
};
static const unsigned char app_dialog_js[] = {
#embed "page/scripts/app/dialog.js"
};
static const unsigned char app_dom_js[] = {
#embed "page/scripts/app/dom.js"
};
static const unsigned char app_format_js[] = {
#embed "page/scripts/app/format.js"
};
static const unsigned char app_json_js[] = {
#embed "page/scripts/app/json.js"
};
static const unsigned char app_keys_js[] = {
#embed "page/scripts/app/keys.js"
};
static const unsigned char app_model_js[] = {
#embed "page/scripts/app/model.js"
};
static const unsigned char app_news_js[] = {
#embed "page/scripts/app/news.js"
};
static const unsigned char app_past_js[] = {
#embed "page/scripts/app/past.js"
};
static const unsigned char app_router_js[] = {
#embed "page/scripts/app/router.js"
};
static const unsigned char app_theme_js[] = {
#embed "page/scripts/app/theme.js"
};
static const unsigned char app_toast_js[] = {
#embed "page/scripts/app/toast.js"
};
static const unsigned char condition_completion_js[] = {
#embed "page/scripts/condition/completion.js"
};
static const unsigned char condition_field_js[] = {
#embed "page/scripts/condition/field.js"
};
static const unsigned char condition_tokens_js[] = {
#embed "page/scripts/condition/tokens.js"
};
static const unsigned char edit_cell_editor_js[] = {
#embed "page/scripts/edit/cell-editor.js"
};
static const unsigned char edit_import_js[] = {
#embed "page/scripts/edit/import.js"
};
static const unsigned char edit_object_form_js[] = {
#embed "page/scripts/edit/object-form.js"
};
static const unsigned char edit_save_js[] = {
#embed "page/scripts/edit/save.js"
};
static const unsigned char edit_value_field_js[] = {
#embed "page/scripts/edit/value-field.js"
};
static const unsigned char edit_whole_object_js[] = {
#embed "page/scripts/edit/whole-object.js"
};
static const unsigned char frame_main_js[] = {
#embed "page/scripts/frame/main.js"
};
static const unsigned char frame_shell_js[] = {
#embed "page/scripts/frame/shell.js"
};
static const unsigned char grid_columns_js[] = {
#embed "page/scripts/grid/columns.js"
};
static const unsigned char grid_entity_table_js[] = {
#embed "page/scripts/grid/entity-table.js"
};
static const unsigned char grid_filters_js[] = {
#embed "page/scripts/grid/filters.js"
};
static const unsigned char grid_grid_js[] = {
#embed "page/scripts/grid/grid.js"
};
static const unsigned char grid_header_js[] = {
#embed "page/scripts/grid/header.js"
};
static const unsigned char grid_keys_js[] = {
#embed "page/scripts/grid/keys.js"
};
static const unsigned char grid_menu_js[] = {
#embed "page/scripts/grid/menu.js"
};
static const unsigned char grid_order_js[] = {
#embed "page/scripts/grid/order.js"
};
static const unsigned char grid_row_pages_js[] = {
#embed "page/scripts/grid/row-pages.js"
};
static const unsigned char grid_scroll_map_js[] = {
#embed "page/scripts/grid/scroll-map.js"
};
static const unsigned char views_ask_js[] = {
#embed "page/scripts/views/ask.js"
};
static const unsigned char views_browse_js[] = {
#embed "page/scripts/views/browse.js"
};
static const unsigned char views_duplicates_js[] = {
#embed "page/scripts/views/duplicates.js"
};
static const unsigned char views_groups_js[] = {
#embed "page/scripts/views/groups.js"
};
static const unsigned char views_health_js[] = {
#embed "page/scripts/views/health.js"
};
static const unsigned char views_history_js[] = {
#embed "page/scripts/views/history.js"
};
static const unsigned char views_home_js[] = {
#embed "page/scripts/views/home.js"
};
static const unsigned char views_model_js[] = {
#embed "page/scripts/views/model.js"
};
static const unsigned char views_object_history_js[] = {
#embed "page/scripts/views/object-history.js"
};
static const unsigned char views_object_js[] = {
#embed "page/scripts/views/object.js"
};
static const unsigned char views_picture_js[] = {
#embed "page/scripts/views/picture.js"
};
static const unsigned char views_plan_js[] = {
#embed "page/scripts/views/plan.js"
};
static const unsigned char views_question_js[] = {
#embed "page/scripts/views/question.js"
};
static const unsigned char views_search_js[] = {
#embed "page/scripts/views/search.js"
};
static const unsigned char views_value_preview_js[] = {
#embed "page/scripts/views/value-preview.js"
};
static const unsigned char base_css[] = {
#embed "page/styles/base.css"
};
static const unsigned char controls_css[] = {
#embed "page/styles/controls.css"
};
static const unsigned char grid_css[] = {
#embed "page/styles/grid.css"
};
static const unsigned char shell_css[] = {
#embed "page/styles/shell.css"
};
static const unsigned char views_css[] = {
#embed "page/styles/views.css"
};

#define FILE_ENTRY(path, type, bytes) {path, type, bytes, sizeof bytes}

static const CStudioFile files[] = {
    FILE_ENTRY("/", html, index_html),
    FILE_ENTRY("/icon.svg", icon, icon_svg),
    FILE_ENTRY("/scripts/app/api.js", script, app_api_js),
    FILE_ENTRY("/scripts/app/dialog.js", script, app_dialog_js),
    FILE_ENTRY("/scripts/app/dom.js", script, app_dom_js),
    FILE_ENTRY("/scripts/app/format.js", script, app_format_js),
    FILE_ENTRY("/scripts/app/json.js", script, app_json_js),
    FILE_ENTRY("/scripts/app/keys.js", script, app_keys_js),
    FILE_ENTRY("/scripts/app/model.js", script, app_model_js),
    FILE_ENTRY("/scripts/app/news.js", script, app_news_js),
    FILE_ENTRY("/scripts/app/past.js", script, app_past_js),
    FILE_ENTRY("/scripts/app/router.js", script, app_router_js),
    FILE_ENTRY("/scripts/app/theme.js", script, app_theme_js),
    FILE_ENTRY("/scripts/app/toast.js", script, app_toast_js),
    FILE_ENTRY("/scripts/condition/completion.js", script, condition_completion_js),
    FILE_ENTRY("/scripts/condition/field.js", script, condition_field_js),
    FILE_ENTRY("/scripts/condition/tokens.js", script, condition_tokens_js),
    FILE_ENTRY("/scripts/edit/cell-editor.js", script, edit_cell_editor_js),
    FILE_ENTRY("/scripts/edit/import.js", script, edit_import_js),
    FILE_ENTRY("/scripts/edit/object-form.js", script, edit_object_form_js),
    FILE_ENTRY("/scripts/edit/save.js", script, edit_save_js),
    FILE_ENTRY("/scripts/edit/value-field.js", script, edit_value_field_js),
    FILE_ENTRY("/scripts/edit/whole-object.js", script, edit_whole_object_js),
    FILE_ENTRY("/scripts/frame/main.js", script, frame_main_js),
    FILE_ENTRY("/scripts/frame/shell.js", script, frame_shell_js),
    FILE_ENTRY("/scripts/grid/columns.js", script, grid_columns_js),
    FILE_ENTRY("/scripts/grid/entity-table.js", script, grid_entity_table_js),
    FILE_ENTRY("/scripts/grid/filters.js", script, grid_filters_js),
    FILE_ENTRY("/scripts/grid/grid.js", script, grid_grid_js),
    FILE_ENTRY("/scripts/grid/header.js", script, grid_header_js),
    FILE_ENTRY("/scripts/grid/keys.js", script, grid_keys_js),
    FILE_ENTRY("/scripts/grid/menu.js", script, grid_menu_js),
    FILE_ENTRY("/scripts/grid/order.js", script, grid_order_js),
    FILE_ENTRY("/scripts/grid/row-pages.js", script, grid_row_pages_js),
    FILE_ENTRY("/scripts/grid/scroll-map.js", script, grid_scroll_map_js),
    FILE_ENTRY("/scripts/views/ask.js", script, views_ask_js),
    FILE_ENTRY("/scripts/views/browse.js", script, views_browse_js),
    FILE_ENTRY("/scripts/views/duplicates.js", script, views_duplicates_js),
    FILE_ENTRY("/scripts/views/groups.js", script, views_groups_js),
    FILE_ENTRY("/scripts/views/health.js", script, views_health_js),
    FILE_ENTRY("/scripts/views/history.js", script, views_history_js),
    FILE_ENTRY("/scripts/views/home.js", script, views_home_js),
    FILE_ENTRY("/scripts/views/model.js", script, views_model_js),
    FILE_ENTRY("/scripts/views/object-history.js", script, views_object_history_js),
    FILE_ENTRY("/scripts/views/object.js", script, views_object_js),
    FILE_ENTRY("/scripts/views/picture.js", script, views_picture_js),
    FILE_ENTRY("/scripts/views/plan.js", script, views_plan_js),
    FILE_ENTRY("/scripts/views/question.js", script, views_question_js),
    FILE_ENTRY("/scripts/views/search.js", script, views_search_js),
    FILE_ENTRY("/scripts/views/value-preview.js", script, views_value_preview_js),
    FILE_ENTRY("/styles/base.css", style, base_css),
    FILE_ENTRY("/styles/controls.css", style, controls_css),
    FILE_ENTRY("/styles/grid.css", style, grid_css),
    FILE_ENTRY("/styles/shell.css", style, shell_css),
    FILE_ENTRY("/styles/views.css", style, views_css),
};

size_t cstudio_file_count(void) { return sizeof files / sizeof files[0]; }

const CStudioFile *cstudio_file(size_t number) { return &files[number]; }
