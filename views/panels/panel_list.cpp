// SPDX-License-Identifier: GPL-3.0-or-later
// Names and makers of the panels.
#include "views/panels/panel_list.h"

#include <QCoreApplication>

#include "views/panels/events_panel.h"
#include "views/panels/import_log_panel.h"
#include "views/panels/state_panel.h"
#include "views/panels/trace_info_panel.h"

namespace tickscope {

namespace {

template <class Panel>
QWidget* make(Document& document, QWidget* parent) {
  return new Panel(document, parent);
}

QString tr(const char* text) { return QCoreApplication::translate("tickscope::PanelList", text); }

constexpr PanelInfo list[] = {
    {"events", PanelPlace::Bottom, [] { return tr("Events"); }, make<EventsPanel>},
    {"trace-info", PanelPlace::Bottom, [] { return tr("Trace info"); }, make<TraceInfoPanel>},
    {"import-log", PanelPlace::Bottom, [] { return tr("Import log"); }, make<ImportLogPanel>},
    {"state", PanelPlace::Right, [] { return tr("State at cursor"); }, make<StatePanel>},
};

}  // namespace

std::span<const PanelInfo> panels() { return list; }

}  // namespace tickscope
